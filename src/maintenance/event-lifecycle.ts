// The life of repair events: they are noted from nodes' reports, advance with the ends of jobs, and are forgotten after
// an acknowledgement. Pure; ids and times are arguments.
import { canonicalJson } from '../lib/text/canonical-json'
import type { JsonObject } from '../lib/shapes/shape'
import { startOf } from '../lib/text/short-text'
import { EVENT_JOBS_MAX, EVENTS_PER_NODE_MAX, FAILURE_CHARS_MAX } from '../model/limits/maintenance'
import {
  changedEvent,
  FAILED_TAG,
  isActive,
  READY_TAG,
  REPAIR_ACTIONS,
  type RepairEvent,
  type Round,
} from '../model/maintenance'

/** The nodes' reports: the objects of their self-diagnoses. */
export type Reports = ReadonlyMap<string, JsonObject>

export interface Cluster {
  /** The tags of each node by its uuid. */
  readonly tags: ReadonlyMap<string, readonly string[]>
}

export interface Now {
  readonly now_s: number
  newId(): string
}

/** Whether two reports are equal, whatever the order of their keys. */
const sameReport = (one: JsonObject, other: JsonObject): boolean => canonicalJson(one) === canonicalJson(other)

/** Adds events for new reports. A node that already has too many events is named, and its report waits. */
export function observe(
  events: readonly RepairEvent[],
  reports: Reports,
  { now_s, newId }: Now,
): { events: readonly RepairEvent[]; overfull: readonly string[] } {
  const all = [...events]
  const overfull: string[] = []
  for (const [node, original] of reports) {
    const action = REPAIR_ACTIONS.find((one) => one === original['status'])
    const own = all.filter((event) => event.node === node)
    if (action === undefined || own.some((event) => sameReport(event.original, original))) continue
    if (own.length >= EVENTS_PER_NODE_MAX) {
      overfull.push(node)
      continue
    }
    const id = newId()
    all.push({
      ...{ id, node, original, action, status: 'noted', jobs: [], tag: READY_TAG + id, tagged: false, note: null },
      ...{ ctime: now_s, mtime: now_s, serial_no: 1 },
    })
  }
  return { events: all.length === events.length ? events : all, overfull }
}

/** The events to keep. A node that has not answered may still have its fault. */
export function remembered(events: readonly RepairEvent[], reports: Reports, { tags }: Cluster): RepairEvent[] {
  return events.filter((event) => {
    const own = tags.get(event.node)
    // The events of a node that has left the cluster are forgotten.
    if (own === undefined) return false
    const report = reports.get(event.node)
    const observed = report === undefined || sameReport(report, event.original)
    const acknowledged = event.tagged && !own.includes(event.tag)
    if (event.status === 'failed') return !acknowledged
    if (event.status === 'completed') return !acknowledged || observed
    return event.status !== 'canceled' || observed
  })
}

/** If the event is cancelled while its jobs are submitted, it stays cancelled. */
export const begun = (event: RepairEvent, now_s: number): RepairEvent =>
  isActive(event) ? changedEvent(event, { status: 'pending', note: null }, now_s) : event

export const withJob = (event: RepairEvent, job: number, now_s: number): RepairEvent =>
  event.jobs.includes(job) ? event : changedEvent(event, { jobs: [...event.jobs, job].slice(-EVENT_JOBS_MAX) }, now_s)

export const withNote = (event: RepairEvent, note: string | null, now_s: number): RepairEvent =>
  event.note === note ? event : changedEvent(event, { note }, now_s)

/** The statuses of jobs by number; jobs that the queue no longer knows are missing. */
export type Statuses = ReadonlyMap<number, string>

const ENDED: readonly string[] = ['canceled', 'success', 'error']

/** Whether all of the round's work has ended. A job without a number was never submitted. */
export const hasEnded = ({ jobs }: Round, statuses: Statuses): boolean =>
  jobs.every(({ job }) => job === null || ENDED.includes(statuses.get(job) ?? 'error'))

/** Whether one of its jobs failed, or was refused. */
export const hasFailure = ({ jobs }: Round, statuses: Statuses): boolean =>
  jobs.some(({ job }) => job === null || statuses.get(job) !== 'success')

/** The known reasons of job failures. */
export type Failures = ReadonlyMap<number, string>

/** The events after the jobs of a finished round. */
export function afterRound(
  events: readonly RepairEvent[],
  round: Round,
  { statuses, failures }: { readonly statuses: Statuses; readonly failures: Failures },
  now_s: number,
): readonly RepairEvent[] {
  return events.map((event) => {
    const own = round.jobs.filter((one) => one.event === event.id && one.job !== null)
    if (own.length === 0) return event
    const good = own.every(({ job }) => job !== null && statuses.get(job) === 'success')
    const tagging = own.some(({ kind }) => kind === 'tag')
    if (event.status === 'failed') return good && tagging ? changedEvent(event, { tagged: true }, now_s) : event
    if (!isActive(event)) return event
    if (!good) {
      const jobs = own.flatMap(({ job }) => (job === null || statuses.get(job) === 'success' ? [] : [job]))
      const why = jobs.map((job) => `job ${job} ${whyOf(job, statuses, failures)}`)
      const note = `${startOf(why.join('; '), FAILURE_CHARS_MAX)}; nothing more is done about it`
      return changedEvent(event, { status: 'failed', tag: FAILED_TAG + event.id, tagged: false, note }, now_s)
    }
    if (own.some(({ kind }) => kind === 'unfit')) return changedEvent(event, { unfit: true }, now_s)
    if (own.some(({ kind }) => kind === 'drain')) return changedEvent(event, { unfit: false }, now_s)
    return tagging ? changedEvent(event, { status: 'completed', tagged: true, note: null }, now_s) : event
  })
}

function whyOf(job: number, statuses: Statuses, failures: Failures): string {
  const status = statuses.get(job)
  if (status === undefined) return 'is lost: the queue does not know it'
  const why = failures.get(job)?.trim()
  return `${status === 'canceled' ? 'was canceled' : 'failed'}${why === undefined ? '' : `: ${why}`}`
}

/** The most invasive active event of a node, the oldest among equals. */
export function mostInvasive(events: readonly RepairEvent[]): Map<string, RepairEvent> {
  const found = new Map<string, RepairEvent>()
  for (const event of events.filter(isActive)) {
    const known = found.get(event.node)
    if (known === undefined || weigh(event, known) > 0) found.set(event.node, event)
  }
  return found
}

const weigh = (one: RepairEvent, other: RepairEvent): number =>
  REPAIR_ACTIONS.indexOf(one.action) - REPAIR_ACTIONS.indexOf(other.action) ||
  other.ctime - one.ctime ||
  (one.id < other.id ? 1 : -1)
