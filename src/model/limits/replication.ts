// Copies of the configuration and the queue at master candidates, and ssconf files at all nodes.

/** Files of the queue that together exceed this are sent to candidates one by one. */
export const QUEUE_BATCH_BYTES_MAX = 8 << 20
/** Seconds between two attempts to bring a master candidate's copy of the queue up to date. */
export const QUEUE_CATCH_UP_S = 15
/** Moves to the archive that are remembered for an out-of-sync candidate. */
export const QUEUE_RENAMES_KEPT_MAX = 20000
/** Seconds for which the start of a master waits for candidates to tell what they have; the copy of a slower one stays as it is until it has told. */
export const CONFIG_STATUS_S = 4
/** Seconds until an out-of-sync candidate is tried again. */
export const CONFIG_CATCH_UP_S = 5
/** Seconds that a candidate may take for a full copy. */
export const CONFIG_COPY_S = 120
/** Bytes of changes kept for a candidate during a full copy; with more the copy begins again. */
export const CONFIG_BACKLOG_BYTES_MAX = 32 << 20
/** Nodes that are sent ssconf files at the same time. */
export const SSCONF_NODES_AT_ONCE = 30
/** Seconds until a node that failed to take its ssconf files is tried again. */
export const SSCONF_RETRY_S = 30
/** Seconds that a change waits for a candidate before the candidate counts as out of sync. */
export const REPLICATION_S = 4
/** Seconds for a candidate to take a part of a copy, and those that a start waits for copies. No change waits for them. */
export const CANDIDATE_CALL_S = 10
/** How often a process that becomes the owner of the configuration asks this node's noded for it, and seconds that it waits each time. */
export const CONFIG_HANDOVERS_MAX = 10
export const CONFIG_HANDOVER_S = 1
