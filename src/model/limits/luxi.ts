// LUXI: requests, answers and connections.

/** The longest LUXI request. */
export const LUXI_FRAME_BYTES_MAX = 32 << 20
/** Bytes that may wait for a LUXI client that reads slowly. */
export const LUXI_BUFFERED_BYTES_MAX = 256 << 20
/** LUXI clients on one socket, including all readers of long lists in the remote API. */
export const LUXI_CONNECTIONS_MAX = 2048
/** Seconds for an answer of luxid. */
export const LUXI_ANSWER_S = 180
/** Seconds that the command line tries to reach a luxid that restarts. */
export const LUXI_RECONNECT_S = 5
/** Seconds between two such tries. */
export const LUXI_RETRY_PAUSE_S = 0.1
/** LUXI connections of one client process; further calls wait. */
export const LUXI_CLIENT_CONNECTIONS_MAX = 256
/** Characters of an answer that are held back until we know whether more follow. */
export const LUXI_HELD_MAX = 64 << 10
/** Idle LUXI connections that a client process keeps. */
export const LUXI_CLIENT_IDLE_MAX = 32
