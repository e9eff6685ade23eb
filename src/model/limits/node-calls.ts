// Calls from daemons and jobs to nodes, and the connections that carry them.

/** Longer texts travel compressed in node calls; Ganeti's daemons use 4096. */
export const COMPRESS_FROM_BYTES = 4096
/** The longest text that a compressed argument of a node call may unpack to. */
export const UPLOAD_BYTES_MAX = 256 << 20
/** The longest body of a node call; longer ones are refused before they are read. */
export const NODE_CALL_BODY_BYTES_MAX = 64 << 20
/**
 * The longest answers that a caller of a node reads: to a usual call, whose text of a failure is the longest part; with a
 * list of what is on the node, or with what programs print; with what a script for allocations prints, twice as long
 * as JSON.
 */
export const NODE_ANSWER_BYTES = { usual: 1 << 20, long: 8 << 20, allocation: 48 << 20 } as const
/** An answer may have one value for each of this many of its bytes, since a value takes far more memory than its text. */
export const NODE_ANSWER_BYTES_PER_VALUE = 16
/** All answers of nodes that one process reads at the same time. The longest one is given up for the others. */
export const NODE_ANSWERS_BYTES_MAX = 64 << 20
/** What a node daemon tells of a failure, and of the output of each hook. As JSON, both fit their answers. */
export const NODE_FAILURE_CHARS_MAX = 128 << 10
export const HOOK_TOLD_CHARS_MAX = 128 << 10
/** Series that the master reads of one node's figures: the calls that it carries out, with a bucket for each range of times. */
export const CALL_SERIES_MAX = 4096
/** Nodes to which a call to many is sent before the event loop serves others. */
export const NODES_ASKED_AT_ONCE = 12
/** Connections to nodes that one process opens at the same time; further calls wait. */
export const NODE_CONNECTIONS_MAX = 256
/** Connections that a node daemon serves at the same time; more are closed at once. */
export const NODED_CONNECTIONS_MAX = 2048
/**
 * Handshakes in progress with a node daemon, of all callers and of one address, so that strangers cannot take the
 * masters' places.
 */
export const NODED_HANDSHAKES_MAX = 1024
export const NODED_HANDSHAKES_PER_CLIENT_MAX = 256
/** Seconds for a caller of a node daemon to show its certificate, and again to send its headers. */
export const NODED_RECEIVE_S = 10
/** Seconds to reach a node before the call fails. */
export const NODE_CONNECT_S = 5
/** Seconds for which the undoing of a change asks a silent node, and seconds between two such calls. */
export const UNDO_PATIENCE_S = 60
export const UNDO_PAUSE_S = 2
/** Seconds between two checks that a node which owes an answer is still reachable. */
export const NODE_REACH_S = 15
/** Seconds that an idle connection to a node is kept. */
export const NODE_KEEP_ALIVE_S = 30
/** Seconds for which a caller remembers that a node runs Ganeti's noded, and the number of such nodes. */
export const NODE_SOFTWARE_S = 60
export const NODE_SOFTWARE_MAX = 10_000
/** Seconds for running calls to end when the node daemon stops. */
export const NODED_CLOSE_S = 2
