// The embedded cluster: its nodes and guests, and how long its start and end wait.

/** Virtual nodes of one embedded cluster: their addresses end in 1 to 253. */
export const EMBEDDED_NODES_MAX = 253
/** Seconds that an embedded cluster may take to prepare a node. */
export const NODE_SETUP_S = 60
/** The longest message by which an embedded cluster is asked for a node. */
export const NODE_SETUP_BYTES_MAX = 4096
/** How long a start waits for the guests that it starts again; those that take longer go on starting. */
export const EMBEDDED_RESUME_S = 30
/** How long a start waits for the daemons of a former one, whose parent was killed. */
export const EMBEDDED_PORTS_S = 10
/** How long a guest of the embedded cluster gets to shut down when the cluster is stopped. */
export const EMBEDDED_GUEST_S = 5
