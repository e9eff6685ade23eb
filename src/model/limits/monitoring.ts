// The central view of what the nodes' monitoring daemons report.

/** Seconds that one question to a monitoring daemon may take, to the end of its answer. */
export const MOND_ANSWER_S = 4
/** Seconds that a view waits for a node that did not answer in time when it was asked before. */
export const SILENT_MOND_WAIT_S = 0.5
/** Seconds that a view waits for all nodes together, however many they are. */
export const MONITORING_S = 5
/** Seconds in which nobody who asks again has a node asked again. */
export const MONITORING_FRESH_S = 1
/** Seconds after which reports are forgotten when nobody asks any more; their figures stay. */
export const MONITORING_KEPT_S = 30
/** Questions to monitoring daemons that are under way at the same time; one that takes longer than the seconds keeps the next from nothing. */
export const MONDS_ASKED_AT_ONCE = 64
export const MONDS_ASK_PATIENCE_S = 0.25
/** Questions that are begun before the event loop serves others. */
export const MONDS_BEGUN_AT_ONCE = 12
/** Bytes of one node's answer, and of those of all nodes that are being read or are kept. */
export const MOND_ANSWER_BYTES_MAX = 4 << 20
export const MONITORING_BYTES_MAX = 64 << 20
/** Bounds of one node's answer: its reports, its values, and how deep they are nested. */
export const MOND_REPORTS_MAX = 200
export const MOND_VALUES_MAX = 400_000
export const MOND_DEPTH_MAX = 60
/** Characters of the message of a status, and of the name of a report, that are shown. */
export const STATUS_CHARS_SHOWN = 1000
export const REPORT_NAME_CHARS_MAX = 200
/** Seconds after which the newest report of a node is too old to say how it is. */
export const NEWEST_REPORT_S = 900
