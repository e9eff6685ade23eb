// Makes events of each change of a job in the queue, and of each delta of the configuration.
import { COPY_NOTES, copyNotes, type CopyNote } from '../../config/copy-notes'
import type { Asker, Delta } from '../../config/delta'
import { type Job, jobStatus } from '../../jobs/job'
import type { TakenBack } from '../../jobs/take-back'
import { type Clock, seconds } from '../../lib/clock'
import { firstMark } from '../../jobs/marks'
import type { ConfigData, GantryData } from '../../model/config'
import { EVENT_MESSAGE_CHARS_MAX, EVENT_NAME_CHARS_MAX, EVENT_PARTS_MAX } from '../../model/limits/events'
import { boundedObjects } from '../../opcodes/objects'
import { fullObject } from '../../query/full-names'
import { opcodeSummary } from '../../opcodes/summary'
import type { NewEvent } from './event-history'
import { MARK } from '../../model/marks'
import { MAINTENANCE, PROBLEMS_KEY, problemsOf, type RepairEvent, shownEvent } from '../../model/maintenance'
import { instanceOfDisk } from '../../config/lookup'
import { recordGet } from '../../config/records'
import { SNAPSHOTS_SECTION } from '../../model/snapshots'
import { TOKENS } from '../../model/gantry-sections'

/** The events of a job's change. `before` is undefined for a new job. Short names of objects become full names. */
export function jobEvents(before: Job | undefined, job: Job, config: ConfigData | undefined): NewEvent[] {
  if (before === job) return []
  const events: NewEvent[] = []
  const objects = objectsOfJob(job, config)
  for (const [index, op] of job.ops.entries()) {
    const observed = before?.ops[index]?.log.length ?? 0
    for (const [serial, [second, micro], type, message] of op.log.slice(observed))
      events.push({
        type: 'log',
        objects,
        data: { job: job.id, op: index, serial, time: second + micro / 1e6, type, message: shortened(message) },
      })
  }
  const statuses = job.ops.map(({ status }) => status)
  const old = before?.ops.map(({ status }) => status)
  if (JSON.stringify(statuses) !== JSON.stringify(old))
    events.push({
      type: 'job',
      objects,
      data: {
        job: job.id,
        status: jobStatus(job),
        before: before === undefined ? null : jobStatus(before),
        ops: job.ops.slice(0, EVENT_PARTS_MAX).map(({ input, status }) => ({
          ...{ OP_ID: input.OP_ID, status },
          summary: opcodeSummary(input).slice(0, EVENT_NAME_CHARS_MAX),
        })),
        ...submitter(job),
      },
    })
  return events
}

/**
 * A submitter chooses how many objects a job names, and how long the names are. Each event repeats them, so they are
 * bounded.
 */
function objectsOfJob({ id, ops }: Job, config: ConfigData | undefined): string[] {
  const limits = { count: EVENT_PARTS_MAX - 1, chars: EVENT_NAME_CHARS_MAX }
  const named = boundedObjects(
    ops.map(({ input }) => input),
    limits,
  )
  const full = config === undefined ? named : named.map((object) => fullObject(config, object))
  return [`job/${id}`, ...new Set(full.filter((object) => object !== `job/${id}`))]
}

/** The user in the job's reason trail; null for a command on the master. */
export function submitter(job: Job): { user: string | null; token: string | null } {
  const first = job.ops[0]?.input
  if (first === undefined) return { user: null, token: null }
  return { user: firstMark(first, MARK.user), token: firstMark(first, MARK.token) }
}

function shortened(message: unknown): unknown {
  const text = typeof message === 'string' ? message : (JSON.stringify(message) ?? 'null')
  return text.length <= EVENT_MESSAGE_CHARS_MAX ? message : `${text.slice(0, EVENT_MESSAGE_CHARS_MAX)}...`
}

const KINDS = {
  instances: 'instance',
  nodes: 'node',
  nodegroups: 'group',
  networks: 'network',
  disks: 'disk',
  filters: 'filter',
} as const

/** The user who asked for a change, if known. */
export type Who = (asker: Asker) => string | null

/** The events of a change of the configuration; `delta` null means that anything may have changed. */
export function configEvents(
  before: ConfigData | undefined,
  config: ConfigData,
  delta: Delta | null,
  who: Who,
): NewEvent[] {
  if (before === undefined) return []
  if (delta === null) {
    if (before.serial_no === config.serial_no) return []
    return [{ type: 'gap', objects: [], data: { reason: 'the configuration daemon was restarted' } }]
  }
  const step = { serial_no: delta.to, ...origin(delta.askers ?? [], who) }
  const events: NewEvent[] = []
  for (const kind of ['instances', 'nodes', 'nodegroups', 'networks', 'disks', 'filters'] as const)
    for (const [uuid, object] of Object.entries<object | null>(delta[kind] ?? {})) {
      const old = before[kind][uuid]
      events.push(changed(KINDS[kind], uuid, old, object ?? undefined, step))
      if (kind === 'nodes' && object !== null) events.push(...nodeEvents(before, config, uuid))
    }
  events.push(...maintenanceEvents(config, delta), ...tokenEvents(delta, step), ...snapshotEvents(config, delta, step))
  events.push(...copyNotes(delta.gantry?.sections[COPY_NOTES]).map(copyEvent))
  if (delta.cluster) {
    const { uuid, serial_no } = config.cluster
    const fields = Object.keys(delta.cluster)
    const data = { kind: 'cluster', uuid, name: config.cluster.cluster_name, serial_no, change: 'changed', fields }
    events.push({ type: 'config', objects: ['cluster'], data: { ...data, config: step } })
    events.push(...masterEvents(before, config))
  }
  return events
}

/** Jobs and their users have the same positions; other users follow. Daemons name no user. */
function origin(askers: readonly Asker[], who: Who): object {
  const jobs = askers.filter((asker) => typeof asker === 'number')
  const users = askers.filter((asker) => typeof asker === 'string' && who(asker) !== null)
  const all = [...jobs, ...users]
  return all.length === 0 ? {} : { ...(jobs.length > 0 && { jobs }), who: all.map(who) }
}

function changed(kind: string, uuid: string, old: object | undefined, now: object | undefined, step: object): NewEvent {
  const object = now ?? old ?? {}
  const name = textOf(object, 'name') ?? uuid
  const serial_no: unknown = Reflect.get(object, 'serial_no') ?? null
  const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
  return { type: 'config', objects: [`${kind}/${name}`], data: { kind, uuid, name, serial_no, change, config: step } }
}

const ROLE_FIELDS = ['offline', 'drained', 'master_candidate', 'group'] as const

function nodeEvents(before: ConfigData, config: ConfigData, uuid: string): NewEvent[] {
  const [old, node] = [before.nodes[uuid], config.nodes[uuid]]
  if (node === undefined) return []
  const different = ROLE_FIELDS.filter((field) => old?.[field] !== node[field])
  if (different.length === 0) return []
  const { name, offline, drained, master_candidate, group } = node
  const data = { node: name, offline, drained, master_candidate, group: config.nodegroups[group]?.name ?? group }
  return [{ type: 'node', objects: [`node/${name}`], data }]
}

/** The event that a node answers no more, or again. */
export function answerEvent(node: string, change: 'silent' | 'back', why: string | undefined): NewEvent {
  const data = { node, change, ...(why !== undefined && { why: shortened(why) }) }
  return { type: 'node', objects: [`node/${node}`], data }
}

/** Events of notes that were made while no luxid ran, for example why it could not run. */
export function untoldCopies({ sections }: GantryData, reported: readonly Pick<NewEvent, 'data'>[]): NewEvent[] {
  const known = new Set(reported.map(({ data }) => JSON.stringify(data)))
  return copyNotes(sections[COPY_NOTES])
    .map(copyEvent)
    .filter(({ data }) => !known.has(JSON.stringify(data)))
}

/** Jobs that the master had lost, and has taken over from these nodes. */
export function lostJobEvents(taken: readonly TakenBack[], clock: Clock): NewEvent[] {
  const jobsOf = (one: string, ended: boolean) =>
    taken.flatMap(({ id, node, ended: over }) => (node === one && over === ended ? [id] : [])).sort((a, b) => a - b)
  return [...new Set(taken.map(({ node }) => node))].map((node) => {
    const [ended, open] = [jobsOf(node, true), jobsOf(node, false)]
    const what = [
      ...(open.length > 0 ? [`had not ended and are not run again: ${open.join(', ')}`] : []),
      ...(ended.length > 0 ? [`had ended: ${ended.join(', ')}`] : []),
    ]
    const text = `the master had lost jobs, and takes them over from this copy of the queue; these ${what.join('; these ')}`
    return copyEvent({ node, text, time: seconds(clock) })
  })
}

/** What a node's copy of the configuration has, or had, and the master lacks. */
const copyEvent = ({ node, text, time }: CopyNote): NewEvent => ({
  type: 'node',
  objects: [`node/${node}`],
  data: { node, change: 'copy', why: shortened(text), since: time },
})

/** Since it began, the master has asked every node: lists that ask no node show what is known of each from now on. */
export const HEARD_EVENT: NewEvent = { type: 'node', objects: ['cluster'], data: { change: 'heard' } }

/** Repair events when they are noted, change and are forgotten, and problems with nodes' reports. */
function maintenanceEvents({ nodes }: ConfigData, { gantry }: Delta): NewEvent[] {
  const nameOf = (uuid: string) => recordGet(nodes, uuid)?.name
  const events = Object.entries(gantry?.sections[MAINTENANCE.events] ?? {}).map(([id, value]): NewEvent => {
    // The section contains only these.
    const event = value === null ? null : shownEvent(value as RepairEvent, nameOf((value as RepairEvent).node))
    if (event === null) return { type: 'maintenance', objects: [], data: { id, forgotten: true } }
    const objects = event.node_name === null ? [] : [`node/${event.node_name}`]
    const { node_name, action, jobs, tag, note, 'repair-status': status } = event
    return {
      type: 'maintenance',
      objects,
      data: { id, node: node_name, action, 'repair-status': status, jobs, tag, note },
    }
  })
  const rounds = gantry?.sections[MAINTENANCE.rounds] ?? {}
  const problems = Object.hasOwn(rounds, PROBLEMS_KEY)
    ? Object.entries(problemsOf({ sections: { [MAINTENANCE.rounds]: rounds } }))
    : []
  const reported = problems.map(([node, problem]): NewEvent => ({
    type: 'maintenance',
    objects: [`node/${node}`],
    data: { node, problem },
  }))
  return [...events, ...reported]
}

/** Names a token by its id alone: others may not know more of it. */
function tokenEvents({ gantry }: Delta, step: object): NewEvent[] {
  return Object.entries(gantry?.sections[TOKENS] ?? {}).map(([id, value]): NewEvent => {
    const change = value === null ? 'removed' : 'added'
    const data = { kind: 'token', uuid: id, name: id, serial_no: null, change, config: step }
    return { type: 'config', objects: [`token/${id}`], data }
  })
}

/** The notes of a disk's snapshots are no part of its instance, but whoever looks at the instance sees them. */
function snapshotEvents(config: ConfigData, { gantry }: Delta, step: object): NewEvent[] {
  const disks = Object.keys(gantry?.sections[SNAPSHOTS_SECTION] ?? {})
  const instances = new Set(disks.flatMap((uuid) => instanceOfDisk(config, uuid) ?? []))
  return [...instances].map((instance) => changed('instance', instance.uuid, instance, instance, step))
}

function masterEvents(before: ConfigData, config: ConfigData): NewEvent[] {
  if (before.cluster.master_node === config.cluster.master_node) return []
  const master = config.nodes[config.cluster.master_node]?.name ?? null
  return [{ type: 'master', objects: ['cluster'], data: { master } }]
}

function textOf(object: object, key: string): string | undefined {
  const value: unknown = Reflect.get(object, key)
  return typeof value === 'string' ? value : undefined
}
