// Questions to nodes for people and monitors, who do not wait for a node that hangs.

/** Requests for consoles that are made before the event loop serves others. */
export const CONSOLES_AT_ONCE = 50
/** Nodes whose answers all lists together wait for before they ask more; whoever asks about a few waits for none of these. */
export const LISTS_ASK_AT_ONCE = 32
/** Seconds after which a node that has not answered yet keeps lists from asking the next ones no more. */
export const LISTS_ASK_PATIENCE_S = 0.1
/** Seconds that a list, a figure or a check waits for a node; after that it goes on with what is known. */
export const LIVE_ANSWER_S = 4
/** Seconds of LIVE_ANSWER_S in which a node that is late must at least tell its version; otherwise it is silent. */
export const NODE_KNOCK_S = 1
/** Seconds between two probes of a silent node. */
export const NODE_PROBE_PAUSE_S = 2
/** Seconds after which a node that nobody asks about, because it left the cluster, is probed no more. */
export const NODE_PROBE_UNWANTED_S = 600
/** Seconds after which a node is looked at again, so that what was last known of it is no older than that, */
export const NODE_LOOK_S = 10
/** and after which one that refused is. */
export const NODE_LOOK_AGAIN_S = 2
/** Looks at nodes in a second: with more nodes than fit, each is looked at less often. */
export const NODE_LOOKS_PER_S = 20
/** The part of a node's time that looks at it may take: one that answers slowly has enough to do. */
export const NODE_LOOKS_SHARE = 0.2
/** Looks that fail are counted in one line of the log for so many seconds. */
export const NODE_LOOK_FAILED_EVERY_S = 60
/** Seconds between two looks at a node of which jobs say that something changed. */
export const NODE_LOOK_SOON_S = 1
/** Seconds that a node waits for an end of a guest before it answers that there was none, and between two looks at who is to be asked. */
export const GUEST_ENDS_S = 30
export const GUEST_ENDS_AGAIN_S = 5
/** Nodes that are asked so; each takes a connection. */
export const GUEST_ENDS_NODES_MAX = 64
/** Seconds that wconfd gets to tell what it measures. */
export const METRICS_WAIT_S = 3
