// Extracts the data of the overview's cards from the server's answers.
import type { components } from '../../api/schema'
import { texts } from '../../texts'

type NodeMonitoring = components['schemas']['NodeMonitoring']
type WhatIf = components['schemas']['WhatIf']
type PastEvent = components['schemas']['PastEvent']

/** The status code of problems that do not recover automatically. */
const BAD = 4
const HEALING = 1
/** Collectors that report degraded mirrors. */
const OF_DISKS = ['drbd', 'inst-disk-status']

export interface NodeProblem {
  /** All nodes with this report. */
  readonly nodes: readonly string[]
  readonly collector: string | null
  readonly message: string
  readonly bad: boolean
}

/** Problems that nodes report, the worst first. Equal problems are joined; problems that recover automatically are left out. */
export function problemsOf(items: readonly NodeMonitoring[]): NodeProblem[] {
  const found = new Map<string, NodeProblem>()
  for (const { node = '', problems = [] } of items)
    for (const { collector, code, message } of problems) {
      if (code <= HEALING) continue
      const key = JSON.stringify([collector, code, message])
      const nodes = [...(found.get(key)?.nodes ?? []), node]
      found.set(key, { nodes, collector, message, bad: code >= BAD })
    }
  return [...found.values()].sort(
    (one, other) => Number(other.bad) - Number(one.bad) || other.nodes.length - one.nodes.length,
  )
}

/** Nodes that report degraded disks. */
export const degradedNodes = (items: readonly NodeMonitoring[]): string[] =>
  items.flatMap(({ node = '', problems = [] }) =>
    problems.some(({ collector, code }) => code !== 0 && OF_DISKS.includes(collector ?? '')) ? [node] : [],
  )

/** The offline and drained nodes, by the letter of their role. The list of nodes is filtered by this letter. */
export const outOfTheWay = (nodes: readonly { readonly role?: string | null }[]) => {
  const among = (role: string) => nodes.filter((node) => node.role === role).length
  return { O: among('O'), D: among('D') }
}

export interface Counted<Value extends string> {
  readonly value: Value
  readonly count: number
}

/** Each value with its count, the most frequent first. */
export function countOf<Value extends string>(values: readonly Value[]): Counted<Value>[] {
  const counts = new Map<Value, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].map(([value, count]) => ({ value, count })).sort((one, other) => other.count - one.count)
}

/** By group, the nodes that could not take over all their secondary instances. */
export function withoutReserve(reported: WhatIf, groupByNode: ReadonlyMap<string, string>): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const node of reported.without_reserve) {
    const group = groupByNode.get(node) ?? ''
    groups.set(group, [...(groups.get(group) ?? []), node])
  }
  return groups
}

/** What changes in the record of the cluster with every other change. */
const BOOKKEEPING: ReadonlySet<unknown> = new Set(['mtime', 'serial_no', 'highest_used_port', 'tcpudp_port_pool'])

/** Whether an event is shown. Events of disks only repeat those of their instances, and a call of the watcher tells what woke it. */
export function isTold({ type, objects: [first = 'disk/'], data }: PastEvent): boolean {
  if (type !== 'config') return type !== 'watcher' || data['change'] !== 'called'
  const fields: unknown = data['fields']
  const isOwn = first === 'cluster' && Array.isArray(fields) && fields.every((field) => BOOKKEEPING.has(field))
  return !first.startsWith('disk/') && !isOwn
}

export interface ToldEvent {
  readonly id: string
  readonly time: string
  readonly text: string
  readonly kind?: string
  readonly name: string
  /** The object no longer exists. */
  readonly gone?: true
  readonly job?: number
}

type Values = Readonly<Record<string, unknown>>

const own = texts.overview.events

/** What to show of past events, the newest first: each change once, in the words of the event that tells most. */
export function toldEvents(items: readonly PastEvent[]): ToldEvent[] {
  const all = items.filter(isTold).map((event) => ({ event, told: toldOf(event), rank: rankOf(event) }))
  const there = new Map<string, boolean>()
  return all.flatMap(({ event, told: reported, rank }, at) => {
    const [object = ''] = event.objects
    if (isEnd(event) || isBegin(event)) there.set(object, there.get(object) ?? isBegin(event))
    const repeats = all.some(
      (other, index) =>
        other.event.objects[0] === object &&
        isTogether(other.told, reported) &&
        (other.rank > rank || (other.rank === rank && other.told.text === reported.text && index < at)),
    )
    return repeats && rank < MOST ? [] : [there.get(object) === false ? { ...reported, gone: true as const } : reported]
  })
}

const changeOf = ({ data }: PastEvent): unknown => data['change'] ?? (data['config'] as Values | undefined)?.['change']
const isEnd = (event: PastEvent): boolean => changeOf(event) === 'removed'
const isBegin = (event: PastEvent): boolean => ['added', 'created'].includes(String(changeOf(event)))

const MOST = 3

/** How much an event tells: that a record has changed is the least. */
function rankOf(event: PastEvent): number {
  if (event.type === 'config') return isBegin(event) || isEnd(event) ? 2 : 0
  return event.type === 'node' && changeOf(event) === undefined ? 1 : MOST
}

const TOGETHER_MS = 5000

/** Not all events name their job. */
const isTogether = (one: ToldEvent, other: ToldEvent): boolean =>
  one.job !== undefined && other.job !== undefined
    ? one.job === other.job
    : Math.abs(Date.parse(one.time) - Date.parse(other.time)) <= TOGETHER_MS

export function toldOf(event: PastEvent): ToldEvent {
  const { id, time, objects, data } = event
  const [first = ''] = objects
  const [kind, ...rest] = first.split('/')
  const { config = {}, cause = {} } = data as { config?: Values; cause?: Values }
  const [job] = [config['jobs'], data['jobs']].find(Array.isArray) ?? [cause?.['job']]
  return {
    ...{ id, time, text: textOf(event) },
    ...(rest.length === 0 ? { name: first } : { kind, name: rest.join('/') }),
    ...(typeof job === 'number' ? { job } : {}),
  }
}

/** A verb, after the name of the object. */
function textOf(event: PastEvent): string {
  const { type, data } = event
  const change = changeOf(event)
  if (type === 'master') return own.master(typeof data['master'] === 'string' ? data['master'] : '')
  if (type === 'maintenance') return own.maintenance(String(data['repair-status'] ?? data['problem'] ?? ''))
  if (type === 'node' && change === undefined) return own.role[roleOf(data)] ?? type
  if (typeof change !== 'string') return own.did['changed'] ?? type
  const fields: unknown = data['fields']
  const named = Array.isArray(fields) ? fields.filter((field) => !BOOKKEEPING.has(field)) : []
  if (change === 'changed' && named.length > 0) return own.changed(named.join(', '))
  return own.did[change] ?? change
}

const roleOf = ({ offline, drained, master_candidate: candidate }: Values): string => {
  if (offline === true) return 'offline'
  if (drained === true) return 'drained'
  return candidate === true ? 'candidate' : 'regular'
}
