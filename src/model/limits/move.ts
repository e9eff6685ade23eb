// Moves of instances to another cluster.

/** Seconds that a remote API may take to answer one request; a question for news of a job is answered within ten. */
export const MOVE_ANSWER_S = 60
/** Seconds for which a remote API that does not answer is asked again for news of a job. */
export const MOVE_PATIENCE_S = 120
/** Seconds from one such attempt to the next. */
export const MOVE_RETRY_S = 2
/** Bytes of one answer. */
export const MOVE_ANSWER_BYTES_MAX = 64 << 20
/** Seconds from one attempt to create an instance with the locks that are free to the next, unless the user says another number. */
export const OPPORTUNISTIC_DELAY_S = 30
