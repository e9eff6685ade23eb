// The embedded cluster: its nodes and guests, and the time limits of its start and end.

/** Virtual nodes of one embedded cluster: their addresses end in 1 to 253. */
export const EMBEDDED_NODES_MAX = 253
/** Seconds to prepare a node. */
export const NODE_SETUP_S = 60
/** The longest request for a new node. */
export const NODE_SETUP_BYTES_MAX = 4096
/** Seconds that a start waits for the guests that it restarts; slower ones continue in the background. */
export const EMBEDDED_RESUME_S = 30
/** Seconds that a start waits for the daemons of a former cluster whose parent was killed. */
export const EMBEDDED_PORTS_S = 10
/** Seconds for a guest to shut down when the cluster stops. */
export const EMBEDDED_GUEST_S = 5
