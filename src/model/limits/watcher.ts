// The watcher and the cleaner: how often they run, how often they try, and what they keep.

/** Seconds between two runs; every so many of them also report nodes that cannot tell of their disks. */
export const WATCHER_EVERY_S = 300
export const WATCHER_STRICT_EVERY = 6
/** The cleaner runs with every so many of them, once a day. */
export const CLEANER_EVERY = 288
/** Runs at the same time: one that waits for the disks of a group must not hold up the next. */
export const WATCHER_RUNS_MAX = 3
/** Seconds for which a run waits until the one before has ended what it does for the instances of a group. */
export const WATCHER_TURN_S = 300
/** Attempts to start an instance, or to clean up after one, before it is left alone. */
export const WATCHER_TRIES_MAX = 5
/** Seconds after which former attempts count no more. */
export const WATCHER_FORGETS_S = 8 * 3600
/** Jobs that the watcher has in the queue at once. */
export const WATCHER_JOBS_AT_ONCE = 100
/** Ended jobs older than so many seconds go to the archive, in steps that take no longer than that. */
export const WATCHER_JOB_AGE_S = 6 * 3600
export const WATCHER_ARCHIVE_S = 60
/** Names that a report has of each kind; all are counted. */
export const WATCHER_REPORT_NAMES_MAX = 100
/** Runs in so many seconds that a node which comes and goes can cause, before the time of the next run is waited for. */
export const WATCHER_RETURNS_MAX = 3
/** Seconds for an answer of a daemon that is asked whether it lives. */
export const WATCHER_DAEMON_ANSWER_S = 30
/** Days after which archived jobs and files of former runs go. */
export const CLEANER_KEEPS_DAYS = 21
/** Logs of the cleaner that are kept. */
export const CLEANER_LOGS_MAX = 50
