// Taking over a cluster from Ganeti, and giving it back.

/** Seconds for a node to report its state, and to receive the packages. */
export const PROBE_S = 60
export const COPY_S = 600
/** Seconds to exchange the packages on a node, including the stop and start of all its daemons. */
export const EXCHANGE_S = 900
/**
 * Seconds until the node daemon answers afterwards, and until the master accepts commands, which may need votes first.
 */
export const NODE_ANSWERS_S = 120
export const MASTER_ANSWERS_S = 300
/** Seconds between two checks. */
export const LOOK_EVERY_S = 1
/** Seconds to wait for running jobs by default. */
export const AWAITS_JOBS_S = 3600
/**
 * Seconds that the watcher of all nodes pauses: the longest time of a whole run. The end of the run lifts the pause.
 */
export const WATCHER_RESTS_S = 6 * 3600
/** MiB that must remain free on a node beside the packages. */
export const ROOM_MIB = 200
/** Lines of a node's failure that we show; its log has all. */
export const SHOWN_LINES_MAX = 15
/** Objects that a finding names; there may be thousands. */
export const NAMED_MAX = 5
