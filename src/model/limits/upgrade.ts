// Upgrades of the whole cluster.

/** Seconds for a node to list its versions, and for a command of the master. */
export const LOOK_S = 60
/** Seconds for all daemons of a node to stop or to start. */
export const DAEMONS_S = 600
/** Seconds until a node or the master answers after its daemons start, which may need votes first. */
export const ANSWERS_S = 300
/** Seconds for machines to start when an upgrade is resumed, and between two checks of them. */
export const BOOT_S = 180
export const BOOT_LOOK_S = 10
/** Seconds for the check of the cluster at the end. */
export const UPGRADE_VERIFY_S = 3600
export const NODES_AT_ONCE = 16
/** Running jobs that a message names. */
export const NAMED_JOBS_MAX = 5
