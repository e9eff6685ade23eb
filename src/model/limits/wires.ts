// Limits of all wires: calls over Unix sockets, nesting, refused bodies.

/**
 * Bytes of a refused body that are read and dropped, and the seconds for that, so that its sender gets to read the
 * answer.
 */
export const DROPPED_BODY = { bytes: 256 << 20, seconds: 10 } as const
/** Seconds to connect to a daemon's socket. */
export const CALL_CONNECT_S = 10
/** Levels of nesting in a call to luxid, wconfd or a node daemon, and in a node's answer. */
export const CALL_DEPTH_MAX = 200
/** Seconds for which refused handshakes are summed up in one line of a daemon's log. */
export const TLS_REFUSED_EVERY_S = 60
