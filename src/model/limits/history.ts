// The last hours of a node and its instances.

/** Seconds from one measurement to the next, and how many are kept: six hours. */
export const HISTORY_LOOK_S = 60
export const HISTORY_LOOKS = 360
/** Instances of a node whose last hours are kept, in some 9 KiB each. */
export const HISTORY_INSTANCES_MAX = 1000
/** Seconds after which what is kept is written to the file again; a clean end writes it, too. */
export const HISTORY_SAVED_S = 600
/** Bytes of that file. */
export const HISTORY_BYTES_MAX = 32 << 20
/** Bounds of one history that a node tells. */
export const HISTORY_ANSWER_BYTES_MAX = 256 << 10
export const HISTORY_ANSWER_VALUES_MAX = 10_000
/** Nodes that are asked for one instance: where it is, and where it was before. */
export const HISTORY_NODES_MAX = 5
