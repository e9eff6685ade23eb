// LUXI: requests, answers and connections.

/** The longest LUXI request. */
export const LUXI_FRAME_BYTES_MAX = 32 << 20
/** Bytes that may wait for a LUXI client that reads slowly. */
export const LUXI_BUFFERED_BYTES_MAX = 256 << 20
/** LUXI clients on one socket: among them all readers of long lists that the remote API may have. */
export const LUXI_CONNECTIONS_MAX = 2048
/** Seconds that an answer of luxid may take. */
export const LUXI_ANSWER_S = 180
/** Seconds that the command line goes on trying to reach a luxid that is being restarted. */
export const LUXI_RECONNECT_S = 5
/** Seconds between two such tries. */
export const LUXI_RETRY_PAUSE_S = 0.1
/** LUXI connections of one client process; further calls wait. */
export const LUXI_CLIENT_CONNECTIONS_MAX = 256
/** Characters of an answer that may wait until it is known whether there are more. */
export const LUXI_HELD_MAX = 64 << 10
/** Idle LUXI connections that a client process keeps. */
export const LUXI_CLIENT_IDLE_MAX = 32
