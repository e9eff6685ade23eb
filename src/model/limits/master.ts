// Who is the master: votes, failovers, the address of the cluster, and its certificate.

/** Times that a master daemon asks the nodes for the master, before it gives up. */
export const VOTE_TRIES_MAX = 60
/** Seconds after a step of a certificate's renewal in which connections may still use the previous state. */
export const CERTIFICATE_STEP_S = 3
/** Seconds between two votes. */
export const VOTE_PAUSE_S = 1
/** Seconds to wait for one vote. */
export const VOTE_ANSWER_S = 10
/**
 * Seconds that a failover waits: for a node; for an old master with daemons and jobs to end; for the new master's
 * daemons.
 */
export const FAILOVER_ANSWER_S = 10
export const FAILOVER_STOP_S = 120
export const FAILOVER_START_S = 300
/**
 * How often a failover checks whether another candidate's data has arrived here, and seconds between two checks: as
 * long as the old master waits.
 */
export const FAILOVER_ARRIVAL_LOOKS = 50
export const FAILOVER_ARRIVAL_LOOK_S = 0.2
/** Seconds that a failover waits until the cluster's address is gone, and until it is back. */
export const MASTER_IP_S = 30
export const MASTER_IP_PAUSE_S = 1
/** Seconds for one attempt to reach it. */
export const MASTER_IP_PING_S = 5
/** Seconds in which a present owner of a new cluster's address would have to answer. */
export const CLUSTER_IP_PING_S = 5
/** Seconds until a node that believes it is the master, but lacks the votes, asks again. */
export const MASTER_RETRY_S = 10
/** Seconds that running jobs may go on when the embedded cluster stops, or another node takes over as master. */
export const JOBS_END_S = 10
