// Daemons as processes: their start and end, what the system allows them, and files that pile up.

/** Bytes of a daemon's log, of which there is one before it; and of what is written before its length is looked at. */
export const LOG_FILE = { bytes_max: 64 << 20, unlooked_bytes: 64 << 10 } as const
/** Files that could not be read, or were replaced, and are kept beside what took their place: so many of each. */
export const SET_ASIDE_MAX = 10
/** Limits below which a daemon refuses to start; and limits that suffice for all connections and programs that it allows. */
export const SYSTEM_LIMITS = {
  files: { least: 128, enough: 4096 },
  processes: { least: 64, enough: 1024 },
} as const
/** Pause before a daemon that died is started again: at first, and at most. */
export const CHILD_BACKOFF_MIN_S = 0.1
export const CHILD_BACKOFF_MAX_S = 10
/** A daemon that ran this long starts with the shortest pause again. */
export const CHILD_HEALTHY_S = 60
/**
 * How V8 spares memory in processes that make few objects; the others have its own measures. `young_mib` is half of what it may take for new
 * objects, `hot_bytes` how much of a function must have run before it is compiled for speed. What a collector does every few seconds is
 * not worth that; with as much, confd would be half as fast in its first 100,000 answers.
 */
export const FRUGAL = {
  node: { young_mib: 1, hot_bytes: 4_000_000 },
  confd: { young_mib: 1, hot_bytes: 1_000_000 },
  job: { young_mib: 2, hot_bytes: 4_000_000 },
} as const
/** Seconds that a daemon may take to stop when it is asked to. */
export const DAEMON_STOP_S = 60
/** How long a daemon may take until it can be used. */
export const CHILD_START_S = 120
/** How long the remote API waits for luxid before it gives up, and is started again. */
export const RAPI_AWAITS_LUXID_S = 60
/** How long systemd may take to start or stop units: a daemon of the master asks for votes first. */
export const UNITS_S = 900
/** How long a daemon gets to end by itself. */
export const CHILD_STOP_S = 20
