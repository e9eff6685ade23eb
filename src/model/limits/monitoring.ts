// The master's view of all nodes' monitoring reports.

/** Seconds for a monitoring daemon to answer completely. */
export const MOND_ANSWER_S = 4
/** Seconds that a view waits for a node that was too slow last time. */
export const SILENT_MOND_WAIT_S = 0.5
/** Seconds that a view waits for all nodes together. */
export const MONITORING_S = 5
/** Seconds for which an answer is fresh, so that the node is not asked again. */
export const MONITORING_FRESH_S = 1
/** Seconds after which unused reports are forgotten; their figures stay. */
export const MONITORING_KEPT_S = 30
/**
 * Monitoring daemons that are asked at the same time. A question that takes longer than the seconds no longer blocks
 * the next one.
 */
export const MONDS_ASKED_AT_ONCE = 64
export const MONDS_ASK_PATIENCE_S = 0.25
/** Questions that start before the event loop serves others. */
export const MONDS_BEGUN_AT_ONCE = 12
/** Bytes of one node's answer, and of all answers that are being read or kept. */
export const MOND_ANSWER_BYTES_MAX = 4 << 20
export const MONITORING_BYTES_MAX = 64 << 20
/** Bounds of one node's answer: its reports, its values, and their nesting. */
export const MOND_REPORTS_MAX = 200
export const MOND_VALUES_MAX = 400_000
export const MOND_DEPTH_MAX = 60
/** Characters shown of a status message, and of a report's name. */
export const STATUS_CHARS_SHOWN = 1000
export const REPORT_NAME_CHARS_MAX = 200
/** Seconds after which a node's newest report is too old to describe its state. */
export const NEWEST_REPORT_S = 900
