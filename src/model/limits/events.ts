// Events: their history, and the streams that tell them.

/** Events that are kept for readers who come back. */
export const EVENTS_KEPT_MAX = 10_000
/** Bytes of these, in memory and in their file, which is written anew when it has twice as many. */
export const EVENTS_BYTES_MAX = 16 << 20
/** Events of one answer. */
export const EVENTS_PAGE_MAX = 500
/** Seconds between two writes of the history of events. */
export const EVENTS_COMMIT_S = 0.05
/** Seconds until a history of events that could not be written is tried again. */
export const EVENTS_RETRY_S = 5
/** Characters of a job's log message in an event. */
export const EVENT_MESSAGE_CHARS_MAX = 4096
/** Objects that an event of a job names, and opcodes that it shows; and characters of a name or a summary in it. */
export const EVENT_PARTS_MAX = 50
export const EVENT_NAME_CHARS_MAX = 255
/** Longest wait for an event in one call. */
export const EVENTS_WAIT_MAX_S = 60
/** Seconds between two signs of life on a stream of events. */
export const EVENT_HEARTBEAT_S = 15
/** Streams of events that are served at the same time, to all and to one user. */
export const EVENT_STREAMS_MAX = 100
export const EVENT_STREAMS_PER_USER_MAX = 25
/** Seconds that a reader of events may take to make room for more. */
export const EVENT_STALL_S = 30
