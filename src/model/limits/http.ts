// The bounds of an HTTP door, which a daemon hands to it; one that needs others changes them.
import { DROPPED_BODY, TLS_REFUSED_EVERY_S } from './wires'

/** Seconds after which whoever was refused with 503 may try again. */
export const RETRY_AFTER_S = 5

export const HTTP_LIMITS = {
  /** Connections that are open at the same time; further ones are refused. */
  connections: 1000,
  /** Connections of one address, and of this machine, where a proxy may stand for many clients, */
  connections_per_client: 200,
  connections_loopback: 800,
  /** and how many more are told so; further ones are closed at once. */
  connections_told: 20,
  /** Request line and headers together. */
  header_bytes: 16 << 10,
  /** Seconds for a client to send its headers, and again to send its body. */
  receive_s: 10,
  /** Seconds that an idle connection is kept. */
  keep_alive_s: 15,
  /** Requests of one connection that wait for the answers to those before them; with more it is closed. */
  pipelined: 100,
  /** Seconds in which a client that is hung up on may read why. */
  refused_s: 2,
  retry_after_s: RETRY_AFTER_S,
  /** Seconds for which handshakes that were refused are told in one line of the log. */
  tls_refused_every_s: TLS_REFUSED_EVERY_S,
  /** Seconds until an address that somebody else has is tried again. */
  address_retry_s: 5,
  /** Seconds in which requests may finish when the door is closed. */
  close_s: 2,
  /** Characters of a path in the log of requests. */
  log_path_chars: 500,
  /** The longest body of a request; as in Ganeti 3.1. */
  body_bytes: 10 << 20,
  /** Bodies that are longer, or do not tell their length, of which so many are read at the same time, for all and for one user. */
  long_body_bytes: 256 << 10,
  long_bodies: 64,
  long_bodies_per_user: 16,
  /** Values in a body, those within others, too: a job of a thousand opcodes has some fifty thousand. */
  body_values: 200_000,
  /** Levels of nesting in a body. */
  body_depth: 100,
  /** The longest message on a websocket. */
  message_bytes: 64 << 10,
  /** Seconds between two pings of a websocket; who does not answer one until the next has gone. */
  ping_s: 30,
  /** How much is taken of a body that nobody reads. */
  dropped_body: DROPPED_BODY,
}
export type HttpLimits = Readonly<typeof HTTP_LIMITS>
