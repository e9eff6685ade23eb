// Our own API below `/3`: pages, waits of submissions, and idempotency keys.

/** Longest wait of a submission for its job's end; waiting submissions, of all users and of one. */
export const JOB_PREFER_WAIT_S = 120
export const JOB_PREFER_WAITS_MAX = 100
export const JOB_PREFER_WAITS_PER_USER_MAX = 25
/** The most objects on a page, and the default. */
export const VIEW_PAGE_MAX = 1000
export const VIEW_PAGE_DEFAULT = 100
/** Bytes of an Idempotency-Key. */
export const IDEMPOTENCY_KEY_BYTES_MAX = 255
/** Seconds that an Idempotency-Key is remembered. */
export const IDEMPOTENCY_S = 24 * 3600
/** Remembered keys of one user; beyond that the user's oldest ones are forgotten. */
export const IDEMPOTENCY_KEYS_PER_USER_MAX = 20_000
/** Objects listed for a tag; their number is always complete. */
export const TAGGED_OBJECTS_SHOWN_MAX = 100
