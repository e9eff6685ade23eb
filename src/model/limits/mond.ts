// The monitoring daemon.
import { HTTP_LIMITS, type HttpLimits } from './http'

/** Everybody may ask without a login, so that bodies, which no request has, are short. */
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
/** Seconds between two questions for the settings of collectors, as in Ganeti; and until there was an answer. */
export const COLLECTOR_SETTINGS_S = 15
export const COLLECTOR_SETTINGS_SOON_S = 1
/** Seconds for which questions of collectors wait until confd has answered once. */
export const FIRST_ANSWER_S = 5
