// Virtual machines on their node: QEMU, its monitor, and the time limits of guests.

/** Seconds to connect to a monitor, read its greeting and agree on the protocol. */
export const QMP_CONNECT_S = 5
/** Seconds for a monitor command. */
export const QMP_ANSWER_S = 60
/** Seconds for a monitor command that only reads the state of the machine. */
export const QMP_LOOK_S = 5
/**
 * Seconds for everything that a list asks one machine, so that a hanging monitor does not hold up the node's others.
 */
export const INSTANCE_LOOK_S = 2
/** The longest line that is read from a monitor. */
export const QMP_LINE_BYTES_MAX = 16 << 20
/** Seconds for QEMU to set a machine up. */
export const QEMU_START_S = 60
/** Bytes of the end of QEMU's log that an error shows. A guest can make QEMU write more without end. */
export const QEMU_LOG_BYTES_TOLD = 16 << 10
/** Seconds for a QEMU that only says what it has. */
export const DRY_START_S = 30
/** Sets of parameters with which a node's QEMU is known to start. */
export const DRY_STARTS_MAX = 1000
/** Seconds until a killed QEMU must be gone. */
export const QEMU_END_S = 30
/** CPUs in a mask, for all virtual CPUs together. */
export const CPU_MASK_CPUS_MAX = 100_000
/** Bytes of the file with a screen's password. */
export const SCREEN_PASSWORD_BYTES_MAX = 4096
/** Seconds for the switch of a migration: for the target to take over, or for the source to stop on request. */
export const MIGRATION_SWITCH_S = 10
/**
 * What carries a migration with TLS: seconds to connect and shake hands, connections at the same time with those of strangers, seconds
 * between two signs of life, seconds without a connection, and lines of its log.
 */
export const RELAY_CONNECT_S = 10
export const RELAY_CONNECTIONS_MAX = 1024
export const RELAY_KEEP_ALIVE_S = 20
export const RELAY_WAIT_S = 60
export const RELAY_LINES_MAX = 100
/** Seconds in which a source that was asked to switch to post-copy does so, unless its network stands still. */
export const POSTCOPY_SWITCH_S = 1
/** Seconds for a guest to release a device. */
export const UNPLUG_S = 20
/** Seconds between two requests to a guest to shut down. */
export const POWERDOWN_REPEAT_S = 5
/** Seconds between two checks for new guests, if the kernel does not notify us; and the delay after a notification. */
export const GUESTS_LOOK_S = 10
export const GUESTS_SETTLE_S = 0.1
/** Seconds that a guest waits for the process that serves its disk, before it gets an error. */
export const SERVER_RETURNS_S = 30
/**
 * A process that is not one of our machines may have been seen before it started its program. So it is checked again for this many seconds.
 * It is checked once more after the longer time, because another process may have its number by then.
 */
export const STRANGER_YOUNG_S = 10
export const STRANGER_KNOWN_S = 60
