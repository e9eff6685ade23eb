// The configuration: its objects, and how its changes reach the disk.

/** Tries to find a random MAC address or secret that nobody uses. */
export const GENERATE_TRIES_MAX = 64
/** Bytes of journal that force a checkpoint. */
export const CONFIG_JOURNAL_BYTES_MAX = 1 << 20
/** In a large cluster the journal may also have this part of the size of config.data. */
export const CHECKPOINT_SIZE_PER_JOURNAL = 8
/** Longest time between a change and the checkpoint that holds it, unless config.data is large. */
export const CHECKPOINT_S = 1
/** Bytes of config.data for which a checkpoint may be written each second: more means longer pauses. */
export const CHECKPOINT_BYTES_PER_S = 4 << 20
/** Bytes of config.data beyond which the end of a job writes no checkpoint. */
export const CHECKPOINT_SETTLE_BYTES_MAX = 1 << 20
/** Seconds between two attempts to write a journal without a record whose outcome is unknown. */
export const JOURNAL_RETRY_S = 1
/** Seconds that the end of a job may wait for the checkpoint. */
export const CHECKPOINT_SETTLE_S = 0.1
/** Changes of the master, and files that a person has taken, that a copy remembers. A former master's copy that is older is not compared. */
export const FORKS_KEPT_MAX = 100
/** Notes of copies that were not believed. */
export const COPY_NOTES_KEPT_MAX = 20
/** Objects encoded between two turns of the event loop while a checkpoint is built. */
export const CHECKPOINT_OBJECTS_AT_ONCE = 200
/** Changes of one group commit; more wait for the next. */
export const GROUP_COMMIT_CHANGES_MAX = 1000
/** Changes that may wait for the disk; more are refused. */
export const PENDING_CHANGES_MAX = 10000
/** Tags of one object. */
export const TAGS_PER_OBJECT_MAX = 4096
/** Characters of a tag. */
export const TAG_CHARS_MAX = 128
