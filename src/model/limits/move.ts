// Moves of instances to another cluster.

/** Seconds for a remote API to answer a request. A question for news of a job is answered within ten. */
export const MOVE_ANSWER_S = 60
/** Seconds for which we keep asking a silent remote API for news of a job. */
export const MOVE_PATIENCE_S = 120
/** Seconds between two such attempts. */
export const MOVE_RETRY_S = 2
/** Bytes of one answer. */
export const MOVE_ANSWER_BYTES_MAX = 64 << 20
/** Default seconds between two attempts to create an instance with the locks that are free. */
export const OPPORTUNISTIC_DELAY_S = 30
