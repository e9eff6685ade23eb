// The default bounds of an HTTP door. A daemon hands them to its door, with its own changes.
import { DROPPED_BODY, TLS_REFUSED_EVERY_S } from './wires'

/** Seconds after which a client that got 503 may try again. */
export const RETRY_AFTER_S = 5

export const HTTP_LIMITS = {
  /** Connections that are open at the same time; further ones are refused. */
  connections: 1000,
  /** Connections of one address. This machine may have more, since a proxy may stand for many clients. */
  connections_per_client: 200,
  connections_loopback: 800,
  /** Refused connections that get an answer saying so; further ones are closed at once. */
  connections_told: 20,
  /** Request line and headers together. */
  header_bytes: 16 << 10,
  /** Seconds for a client to send its headers, and again for its body. */
  receive_s: 10,
  /** Seconds that an idle connection is kept. */
  keep_alive_s: 15,
  /** Waiting requests on one connection; a connection with more is closed. */
  pipelined: 100,
  /** Seconds that a disconnected client has to read the reason. */
  refused_s: 2,
  retry_after_s: RETRY_AFTER_S,
  /** Seconds for which refused handshakes are summed up in one line of the log. */
  tls_refused_every_s: TLS_REFUSED_EVERY_S,
  /** Seconds until a busy address is tried again. */
  address_retry_s: 5,
  /** Seconds for requests to finish when the door closes. */
  close_s: 2,
  /** Characters of a path in the log of requests. */
  log_path_chars: 500,
  /** The longest body of a request, as in Ganeti 3.1. */
  body_bytes: 10 << 20,
  /** Longer bodies, and bodies of unknown length: how many are read at the same time, of all users and of one. */
  long_body_bytes: 256 << 10,
  long_bodies: 64,
  long_bodies_per_user: 16,
  /** Values in a body, at any depth: a job of a thousand opcodes has some fifty thousand. */
  body_values: 200_000,
  /** Levels of nesting in a body. */
  body_depth: 100,
  /** The longest message on a websocket. */
  message_bytes: 64 << 10,
  /** Seconds between two pings of a websocket. A client that has not answered by the next one is disconnected. */
  ping_s: 30,
  /** How much of an unwanted body is read and dropped. */
  dropped_body: DROPPED_BODY,
}
export type HttpLimits = Readonly<typeof HTTP_LIMITS>
