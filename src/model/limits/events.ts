// Events: their history, and the streams that deliver them.

/** Events that are kept for readers that come back. */
export const EVENTS_KEPT_MAX = 10_000
/** Bytes of these events, in memory and in their file. A file of twice this size is rewritten. */
export const EVENTS_BYTES_MAX = 16 << 20
/** Events of one answer. */
export const EVENTS_PAGE_MAX = 500
/** Seconds between two writes of the history. */
export const EVENTS_COMMIT_S = 0.05
/** Seconds until a failed write of the history is repeated. */
export const EVENTS_RETRY_S = 5
/** Characters of a job's log message in an event. */
export const EVENT_MESSAGE_CHARS_MAX = 4096
/** Objects that a job's event names, and opcodes that it shows; characters of a name or a summary in it. */
export const EVENT_PARTS_MAX = 50
export const EVENT_NAME_CHARS_MAX = 255
/** Longest wait for an event in one call. */
export const EVENTS_WAIT_MAX_S = 60
/** Seconds between two heartbeats on a stream. */
export const EVENT_HEARTBEAT_S = 15
/** Streams at the same time: of all users, and of one. */
export const EVENT_STREAMS_MAX = 100
export const EVENT_STREAMS_PER_USER_MAX = 25
/** Seconds after which a reader that takes no events is disconnected. */
export const EVENT_STALL_S = 30
