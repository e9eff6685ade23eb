// Logical units: their waits, and how often they report them.

/** Seconds between two reports of a job that waits for a guest to stop. */
export const STOP_NEWS_S = 5
/** Seconds of waiting for locks after which the job names their holders. */
export const LOCK_WAIT_NOTICE_S = 5
/** Seconds in which a present owner of an instance's address would have to answer. */
export const INSTANCE_IP_PING_S = 10
/** Seconds for a client to connect to a test of the queue, and to confirm. */
export const TEST_CONNECT_S = 20
export const TEST_CONFIRM_S = 60
/** Checks, a second apart, of disks that seem degraded, before they count as degraded. */
export const DISK_SYNC_DEGRADED_CHECKS = 10
/**
 * Longest pause between two checks of syncing disks, and between two lines about them. Ganeti checks only when it
 * reports.
 */
export const DISK_SYNC_POLL_MAX_S = 5
export const DISK_SYNC_FEEDBACK_MAX_S = 60
/** Consecutive failed checks of syncing disks before an operation gives up. */
export const DISK_SYNC_RETRIES = 10
/** Seconds between two checks of a running migration, and between two lines about it. */
export const MIGRATION_POLL_S = 0.2
export const MIGRATION_FEEDBACK_S = 10
/** Seconds without any transferred memory after which a migration counts as standing still. */
export const MIGRATION_STALL_S = 120
/** Seconds for which the source of a migration may not answer. */
export const MIGRATION_UNHEARD_S = 30
/** Seconds between two attempts to connect the sides of a migration again after its switch to post-copy, and for all of them. */
export const POSTCOPY_RETRY_S = 5
export const POSTCOPY_RECOVERY_S = 600
/** Seconds between two checks of a mirror whose sides were reconnected. */
export const MIRROR_POLL_S = 2
/** Seconds between two checks whether a helper machine has ended, and between two lines about it. */
export const HELPER_LOOK_S = 2
export const HELPER_NEWS_S = 60
/** Seconds for a server to tell the size of an image. */
export const IMAGE_SIZE_S = 30
