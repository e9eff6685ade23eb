// Logical units: what they wait for, and how often they tell about it.

/** So often a job tells that it waits for a guest to stop. */
export const STOP_NEWS_S = 5
/** Seconds of waiting for locks after which the job says who holds them. */
export const LOCK_WAIT_NOTICE_S = 5
/** Seconds in which whoever has the address of an instance must answer. */
export const INSTANCE_IP_PING_S = 10
/** Seconds for a test of the queue to be met, and to be confirmed. */
export const TEST_CONNECT_S = 20
export const TEST_CONFIRM_S = 60
/** Looks at disks that seem degraded, a second apart, before they count as degraded. */
export const DISK_SYNC_DEGRADED_CHECKS = 10
/** Longest pause between two looks at syncing disks, and between two lines about them. Ganeti looks only when it tells of them. */
export const DISK_SYNC_POLL_MAX_S = 5
export const DISK_SYNC_FEEDBACK_MAX_S = 60
/** Failed questions about syncing disks in a row before an operation gives up. */
export const DISK_SYNC_RETRIES = 10
/** Seconds between two looks at a running migration, and between two lines about it. */
export const MIGRATION_POLL_S = 0.2
export const MIGRATION_FEEDBACK_S = 10
/** Seconds between two looks at a mirror whose sides were connected again. */
export const MIRROR_POLL_S = 2
/** So often a job looks whether a helper machine has ended, and tells that it waits for it. */
export const HELPER_LOOK_S = 2
export const HELPER_NEWS_S = 60
/** Seconds for a server to tell the size of an image. */
export const IMAGE_SIZE_S = 30
