// The watcher and the cleaner: how often they run, how often they try, and what they keep.

/** Seconds between two runs; and how many runs until nodes that cannot report their disks are named again. */
export const WATCHER_EVERY_S = 300
export const WATCHER_STRICT_EVERY = 6
/** Seconds since maintd's last look at a node group for which a regular run leaves it alone. */
export const WATCHER_SPARE_S = 360
/** Runs of the watcher for one of the cleaner: once a day. */
export const CLEANER_EVERY = 288
/** Runs at the same time: one that waits for the disks of a group must not hold up the next. */
export const WATCHER_RUNS_MAX = 3
/** Seconds that a run waits for the previous one to finish with the instances of a group. */
export const WATCHER_TURN_S = 300
/** Attempts to start an instance, or to clean up after one, before the watcher leaves it alone. */
export const WATCHER_TRIES_MAX = 5
/** Seconds after an attempt when automatic runs take a running instance as started, so that earlier attempts no longer count. */
export const WATCHER_RAN_S = 240
/** Seconds after which earlier attempts no longer count, whatever has become of them. */
export const WATCHER_FORGETS_S = 8 * 3600
/** Jobs of the watcher in the queue at the same time. */
export const WATCHER_JOBS_AT_ONCE = 100
/** Ended jobs older than this many seconds go to the archive, in steps of at most the other number of seconds. */
export const WATCHER_JOB_AGE_S = 6 * 3600
export const WATCHER_ARCHIVE_S = 60
/** Names of each kind in a report; the counts are complete. */
export const WATCHER_REPORT_NAMES_MAX = 100
/**
 * Runs that a node which comes and goes can cause in this many seconds; after that it waits for the next regular run.
 */
export const WATCHER_RETURNS_MAX = 3
/** Seconds for a daemon to answer that it is alive. */
export const WATCHER_DAEMON_ANSWER_S = 30
/** Days after which archived jobs and files of former runs are deleted. */
export const CLEANER_KEEPS_DAYS = 21
/** Days without a write after which an unfinished export is deleted. */
export const BROKEN_EXPORT_KEEPS_DAYS = 2
/** Logs of the cleaner that are kept. */
export const CLEANER_LOGS_MAX = 50
