// The monitoring daemon.
import { HTTP_LIMITS, type HttpLimits } from './http'

/** Everybody may ask without a login. No request has a body, so bodies must be short. */
export const MOND_HTTP_LIMITS: HttpLimits = {
  ...HTTP_LIMITS,
  ...{
    body_bytes: 4096,
    long_body_bytes: 4096,
    long_bodies: 1,
    long_bodies_per_user: 1,
    body_values: 100,
    body_depth: 5,
  },
}
/**
 * Seconds between two questions for the settings of collectors, as in Ganeti; and the pause while there is no answer
 * yet.
 */
export const COLLECTOR_SETTINGS_S = 15
export const COLLECTOR_SETTINGS_SOON_S = 1
/** Seconds that collectors' questions wait for confd's first answer. */
export const FIRST_ANSWER_S = 5
