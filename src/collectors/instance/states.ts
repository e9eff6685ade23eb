// An instance's wanted state, actual state, and the verdict.
import { OK, type Status, type StatusRules } from '../report'
import { about, float, list, maybe, oneOf, record, status, text, anything } from '../shapes'
import { lastRequest } from './reasons'
import type { SeenDomain } from './xen-domains'

const STATES = ['running', 'blocked', 'paused', 'shutdown', 'crashed', 'dying', 'hung', 'unknown'] as const

/** The fields that every instance collector reports. */
export const INSTANCE_FIELDS = {
  ...{ name: text, uuid: text, adminState: oneOf('up', 'down', 'offline') },
  actualState: oneOf(...STATES),
  uptime: about('since when it runs, in words', maybe(text)),
  mtime: about('seconds', float),
  state_reason: about(
    'who changed the state last, and why: `[source, reason, nanoseconds]` of each step',
    list(anything),
  ),
  status,
} as const

export const INSTANCE_DATA = record({ instances: list(record(INSTANCE_FIELDS)), status })

export const INSTANCE_CODES: StatusRules = {
  0: 'every instance is as it should be',
  2: 'an instance is marked as offline, or hangs, or nobody can say how it is',
  4: 'an instance runs that should not, or does not run and should',
}

export function domainState(adminState: string, domain: SeenDomain | undefined): string {
  if (domain === undefined) return adminState === 'down' ? 'shutdown' : 'unknown'
  return domain.hung ? 'hung' : domain.state
}

/** In Ganeti's words. */
export function judge(adminState: string, actualState: string): Status {
  if (adminState === 'down') {
    if (['shutdown', 'dying'].includes(actualState)) return OK
    return { code: 4, message: 'The instance is not stopped as it should be' }
  }
  if (adminState === 'offline') return { code: 2, message: 'The instance is marked as offline' }
  if (actualState === 'hung') {
    return { code: 2, message: 'Instance marked as running, but it appears to be hung' }
  }
  if (['running', 'blocked'].includes(actualState)) return OK
  return { code: 4, message: 'The instance is not running as it should be' }
}

/** An instance that should run but is not here: somebody stopped it, or it crashed. */
export function absent(trail: readonly unknown[]): { readonly state: string; readonly status: Status } {
  const last = lastRequest(trail)
  if (last?.action === 'shutdown')
    return { state: 'shutdown', status: { code: 4, message: `The instance was stopped on request of ${last.by}` } }
  return { state: 'crashed', status: { code: 4, message: 'The instance ended, and nobody had asked for that' } }
}

/** `1 day, 2:03:04`, in the format of Xen's tools. */
export function uptimeText(seconds: number): string {
  const [days, rest] = [Math.floor(seconds / 86400), Math.floor(seconds % 86400)]
  const [hours, minutes, left] = [Math.floor(rest / 3600), Math.floor((rest % 3600) / 60), rest % 60]
  const time = [hours, String(minutes).padStart(2, '0'), String(left).padStart(2, '0')].join(':')
  return days === 0 ? time : `${days} day${days === 1 ? '' : 's'}, ${time}`
}

export const allowsUserShutdown = (lines: readonly string[]): boolean => lines[0] === 'True'
