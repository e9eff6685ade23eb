// Virtual machines on their node: QEMU, its monitor, and what guests get time for.

/** Seconds to connect to a monitor, hear its greeting and agree on the protocol. */
export const QMP_CONNECT_S = 5
/** Seconds until a monitor command must be answered. */
export const QMP_ANSWER_S = 60
/** Seconds for those that only tell how a machine is. */
export const QMP_LOOK_S = 5
/** Seconds for all that is asked of one machine for a list: one whose monitor hangs must not hold up the node's others. */
export const INSTANCE_LOOK_S = 2
/** The longest line that is read from a monitor. */
export const QMP_LINE_BYTES_MAX = 16 << 20
/** Seconds that QEMU may take to set a machine up. */
export const QEMU_START_S = 60
/** Seconds that a killed QEMU may take to be gone. */
export const QEMU_END_S = 30
/** CPUs that a mask names, for all virtual CPUs together. */
export const CPU_MASK_CPUS_MAX = 100_000
/** Bytes of the file with the password of a screen. */
export const SCREEN_PASSWORD_BYTES_MAX = 4096
/** Seconds for the switch of a migration: to take over on the target, or to stop on request on the source. */
export const MIGRATION_SWITCH_S = 10
/** Seconds that a guest may take to let go of a device. */
export const UNPLUG_S = 20
/** Seconds between two requests to a guest to shut down. */
export const POWERDOWN_REPEAT_S = 5
/** Seconds between two looks for guests to listen to, where the system does not tell of them; and after it told, until they are looked at. */
export const GUESTS_LOOK_S = 10
export const GUESTS_SETTLE_S = 0.1
/** Seconds for which a guest waits for the process that serves its disk, before it is told of an error. */
export const SERVER_RETURNS_S = 30
/**
 * Seconds for which a process that is no machine of this node's is looked at again and again, since it may have been seen before its
 * program began; and those after which it is looked at once more, since its number may have been given to another.
 */
export const STRANGER_YOUNG_S = 10
export const STRANGER_KNOWN_S = 60
