// Daemons as processes: their start and end, the system's limits for them, and files that accumulate.

/**
 * Bytes of a daemon's log, after which a new one begins and the old one is kept; and bytes between two checks of its
 * size.
 */
export const LOG_FILE = { bytes_max: 64 << 20, unlooked_bytes: 64 << 10 } as const
/** Unreadable or replaced files that are kept beside their successors, of each file. */
export const SET_ASIDE_MAX = 10
/** Seconds until wconfd tries again to write what its last run answered. */
export const RECEIPTS_RETRY_S = 5
/** Limits below which a daemon refuses to start, and limits that are enough for all its connections and programs. */
export const SYSTEM_LIMITS = {
  files: { least: 128, enough: 4096 },
  processes: { least: 64, enough: 1024 },
} as const
/** Pause before a dead daemon is started again: the first one, and the longest. */
export const CHILD_BACKOFF_MIN_S = 0.1
export const CHILD_BACKOFF_MAX_S = 10
/** Seconds until a daemon without which a node works is tried again. */
export const PART_RETRY_S = 10
/** Seconds after which a running daemon counts as healthy; its next pause is the shortest again. */
export const CHILD_HEALTHY_S = 60
/**
 * Options with which V8 saves memory in processes that make few objects. Other processes have V8's own settings. `young_mib` is half of the
 * space for new objects. `hot_bytes` is how much of a function must have run before V8 optimizes it. Work that runs only every few seconds
 * is not worth the optimization. With the higher value, confd would be half as fast in its first 100,000 answers.
 */
export const FRUGAL = {
  node: { young_mib: 1, hot_bytes: 4_000_000 },
  confd: { young_mib: 1, hot_bytes: 1_000_000 },
  job: { young_mib: 2, hot_bytes: 4_000_000 },
} as const
/** Seconds for a daemon to stop on request. */
export const DAEMON_STOP_S = 60
/** Seconds for the shell to read a daemon's arguments from a file of the administrator. */
export const ARGUMENTS_S = 10
/** Seconds until a new daemon must be ready. */
export const CHILD_START_S = 120
/** Seconds that the remote API waits for luxid. Then it ends, and is started again. */
export const RAPI_AWAITS_LUXID_S = 60
/** Seconds that systemd may take to start or stop units: a daemon of the master asks for votes first. */
export const UNITS_S = 900
/** Seconds for a daemon to end by itself. */
export const CHILD_STOP_S = 20
