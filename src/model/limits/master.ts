// Who is the master: votes, failovers, the address of the cluster, and its certificate.

/** Times that the nodes are asked who is master, before a master daemon gives up. */
export const VOTE_TRIES_MAX = 60
/** Seconds after a step of a new certificate in which connections are still made with what was read before it. */
export const CERTIFICATE_STEP_S = 3
/** Seconds between two votes. */
export const VOTE_PAUSE_S = 1
/** Seconds to wait for one vote. */
export const VOTE_ANSWER_S = 10
/** How long a failover waits for a node, for an old master that has daemons and jobs to end, and for the new one's daemons. */
export const FAILOVER_ANSWER_S = 10
export const FAILOVER_STOP_S = 120
export const FAILOVER_START_S = 300
/** How often a failover looks whether what another candidate has arrives here, and seconds between two looks: as long as the old master waits. */
export const FAILOVER_ARRIVAL_LOOKS = 50
export const FAILOVER_ARRIVAL_LOOK_S = 0.2
/** How long a failover waits for the cluster's address to be gone, and to be back. */
export const MASTER_IP_S = 30
export const MASTER_IP_PAUSE_S = 1
/** Seconds for one attempt to reach it. */
export const MASTER_IP_PING_S = 5
/** Seconds in which whoever has the address of a cluster that is to be made must answer. */
export const CLUSTER_IP_PING_S = 5
/** Seconds until a node that believes to be the master, but did not get the votes, asks for them again. */
export const MASTER_RETRY_S = 10
/** How long jobs that run may go on when the embedded cluster is stopped, or when another node takes over as master. */
export const JOBS_END_S = 10
