// The start of a role, as small as one can be: a daemon that says in its log that it runs.
import type { Start } from '../../../src/start/start'

export const start: Start = ({ log }) => {
  log.info('tick')
  return Promise.resolve({ close: () => Promise.resolve() })
}
