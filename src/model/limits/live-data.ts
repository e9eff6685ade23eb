// Questions to nodes for users and monitoring, which must not wait for a node that hangs.

/** Requests for consoles that are made before the event loop serves others. */
export const CONSOLES_AT_ONCE = 50
/** Nodes that all lists together ask at the same time. A question about a few objects does not wait for them. */
export const LISTS_ASK_AT_ONCE = 32
/** Seconds after which a slow node no longer keeps lists from asking the next one. */
export const LISTS_ASK_PATIENCE_S = 0.1
/** Seconds that a list, a figure or a check waits for a node; then it uses the known data. */
export const LIVE_ANSWER_S = 4
/**
 * The part of LIVE_ANSWER_S in which a late node must at least answer a question for its version. Otherwise it counts
 * as silent.
 */
export const NODE_KNOCK_S = 1
/** Seconds between two probes of a silent node. */
export const NODE_PROBE_PAUSE_S = 2
/** Seconds after which we stop probing a node that nobody asks about, because it left the cluster. */
export const NODE_PROBE_UNWANTED_S = 600
/** Seconds between two looks at a node, so that its data is never older, */
export const NODE_LOOK_S = 10
/** and until the next look after one that failed. */
export const NODE_LOOK_AGAIN_S = 2
/** Seconds of failed looks after which a node counts as silent, */
export const NODE_SILENT_S = 5
/** and those if it answers other questions, so that only a question of looks is slow. */
export const NODE_SILENT_SLOW_S = 60
/** Looks per second at all nodes. With more nodes, each is looked at less often. */
export const NODE_LOOKS_PER_S = 20
/** The share of a node's time that looks may take: a node that answers slowly is busy enough. */
export const NODE_LOOKS_SHARE = 0.2
/** Failed looks are summed up in one line of the log for this many seconds. */
export const NODE_LOOK_FAILED_EVERY_S = 60
/** Seconds between two looks at a node that jobs are changing. */
export const NODE_LOOK_SOON_S = 1
/**
 * Seconds that a node waits for a guest to end before it answers that none did; and seconds until we check again which
 * nodes to ask.
 */
export const GUEST_ENDS_S = 30
/** Seconds between two checks of the node whether the processes of guests are there, while it waits. */
export const GUEST_ENDS_LOOK_S = 2
export const GUEST_ENDS_AGAIN_S = 5
/** Nodes that are asked for ends of guests; each takes a connection. */
export const GUEST_ENDS_NODES_MAX = 64
/** Seconds for wconfd to return its figures. */
export const METRICS_WAIT_S = 3
