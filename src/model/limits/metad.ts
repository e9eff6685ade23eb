// The metadata daemon, which instances ask.
import { HTTP_LIMITS, type HttpLimits } from './http'

/** A guest may send anything, so each has small bounds. None of its requests has a body that we read. */
export const METAD_HTTP_LIMITS: HttpLimits = {
  ...HTTP_LIMITS,
  ...{ connections_per_client: 20, connections_loopback: 20, connections_told: 5 },
  ...{ header_bytes: 8 << 10, pipelined: 10, log_path_chars: 200 },
  ...{ body_bytes: 4096, long_body_bytes: 4096, long_bodies: 1, long_bodies_per_user: 1 },
  // The address appears as soon as the first instance with communication runs.
  address_retry_s: 0.5,
}
/** Instances that a node's metad knows. */
export const METAD_INSTANCES_MAX = 4096
/** The longest call to metad, and connections to its socket. */
export const METAD_FRAME_BYTES_MAX = 4 << 20
export const METAD_CONNECTIONS_MAX = 64
/** Seconds for metad to answer a call. */
export const METAD_ANSWER_S = 30
/** Seconds after which an installation counts as finished, so that private and secret OS parameters are forgotten. */
export const INSTALLATION_S = 3600
