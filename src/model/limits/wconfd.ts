// The daemon of the configuration and the locks, and its followers.

/** The longest call that wconfd reads. */
export const WCONFD_FRAME_BYTES_MAX = 64 << 20
/** Bytes that may wait for one slow client or follower of wconfd before it is disconnected. */
export const WCONFD_BUFFER_BYTES_MAX = 256 << 20
/** The longest request of a follower of the configuration. */
export const FOLLOW_FRAME_BYTES_MAX = 4096
/** Connections to wconfd at the same time. */
export const WCONFD_CONNECTIONS_MAX = 4096
/** Seconds until wconfd must have answered a call that does not wait for locks. */
export const WCONFD_ANSWER_S = 60
/** Seconds that a client tries to reach a wconfd that restarts. */
export const WCONFD_RECONNECT_S = 60
/** Changes of one client whose answers wconfd keeps, as it may ask for them again. */
export const RECEIPTS_PER_OWNER_MAX = 1000
/** Seconds between two tries to reach a lost wconfd. */
export const WCONFD_RETRY_PAUSE_S = 0.2
/** Seconds between two searches for lock owners that died unnoticed. */
export const LOCK_CLEANUP_S = 30
/** Locks of one request. */
export const LOCK_REQUEST_MAX = 100_000
/** Bytes of locks.data, including old states, above which it is rewritten. */
export const LOCKS_FILE_BYTES_MAX = 1 << 20
