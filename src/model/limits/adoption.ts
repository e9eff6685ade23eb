// Taking over a cluster from Ganeti, and giving it back.

/** Seconds that a node gets to tell what it has, and to take the files of packages. */
export const PROBE_S = 60
export const COPY_S = 600
/** Seconds for packages to be exchanged on a node, with all daemons stopped before and started after. */
export const EXCHANGE_S = 900
/** Seconds until the node daemon answers after that, and until the master answers commands: it may have to ask for votes. */
export const NODE_ANSWERS_S = 120
export const MASTER_ANSWERS_S = 300
/** Seconds between two looks. */
export const LOOK_EVERY_S = 1
/** Seconds for which jobs that are under way are waited for, if nothing else is said. */
export const AWAITS_JOBS_S = 3600
/** Seconds for which the watcher of all nodes rests: as long as the whole of it may take. It is called back at the end. */
export const WATCHER_RESTS_S = 6 * 3600
/** MiB that a node must have left for the packages. */
export const ROOM_MIB = 200
/** Lines of what went wrong on a node that are shown; all are in its log. */
export const SHOWN_LINES_MAX = 15
/** Objects named in a finding, of which there may be thousands. */
export const NAMED_MAX = 5
