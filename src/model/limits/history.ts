// Measurements of a node and its instances in the last hours.

/** Seconds between two measurements, and their number: six hours. */
export const HISTORY_LOOK_S = 60
export const HISTORY_LOOKS = 360
/** Instances of a node with a history; each takes some 9 KiB. */
export const HISTORY_INSTANCES_MAX = 1000
/** Seconds between two writes of the history to its file; a clean end writes it too. */
export const HISTORY_SAVED_S = 600
/** Bytes of that file. */
export const HISTORY_BYTES_MAX = 32 << 20
/** Bounds of one history in an answer. */
export const HISTORY_ANSWER_BYTES_MAX = 256 << 10
export const HISTORY_ANSWER_VALUES_MAX = 10_000
/** Nodes that are asked about one instance: its nodes now, and earlier ones. */
export const HISTORY_NODES_MAX = 5
