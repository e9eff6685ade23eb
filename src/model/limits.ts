// Every bound of a queue, retry, buffer or cache, by name, so that none is hidden in the code that needs it.

// Node calls (rpc/node, daemons/noded)
/** Texts from this length on travel compressed in node calls; Ganeti's daemons use 4096. */
export const COMPRESS_FROM_BYTES = 4096
/** The longest text that a compressed argument of a node call may unpack to. */
export const UPLOAD_BYTES_MAX = 256 << 20
/** The longest body of a node call; longer ones are refused before they are read. */
export const NODE_CALL_BODY_BYTES_MAX = 256 << 20
/** The longest answer that a caller of a node reads. */
export const NODE_ANSWER_BYTES_MAX = 256 << 20
/** Connections to nodes that one process opens at the same time; further calls wait. */
export const NODE_CONNECTIONS_MAX = 256
/** Seconds to reach a node before the call fails. */
export const NODE_CONNECT_S = 5
/** Seconds that an idle connection to a node is kept. */
export const NODE_KEEP_ALIVE_S = 30
/** Bytes of output that are kept of a hook or OS script. */
export const SCRIPT_OUTPUT_BYTES_MAX = 1 << 20
/** Seconds that a hook script may run. */
export const HOOK_SCRIPT_S = 900
