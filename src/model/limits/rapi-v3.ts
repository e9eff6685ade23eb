// The API of our own, below `/3`: pages, waits of submissions, and keys of those that are repeated.

/** The longest time that a submission waits for the end of its job, and how many may wait at once, of all and of one user. */
export const JOB_PREFER_WAIT_S = 120
export const JOB_PREFER_WAITS_MAX = 100
export const JOB_PREFER_WAITS_PER_USER_MAX = 25
/** Objects on one page, and when the caller does not say how many. */
export const VIEW_PAGE_MAX = 1000
export const VIEW_PAGE_DEFAULT = 100
/** Bytes of an Idempotency-Key. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 255
/** Seconds that an Idempotency-Key is remembered. */
export const IDEMPOTENCY_S = 24 * 3600
/** Keys of one user that are remembered at the same time; beyond them the oldest of that user are forgotten. */
export const IDEMPOTENCY_KEYS_PER_USER_MAX = 20_000
/** Objects that are named with a tag; their number is told beside. */
export const TAGGED_OBJECTS_SHOWN_MAX = 100
