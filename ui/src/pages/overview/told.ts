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
export function withoutReserve(told: WhatIf, groupByNode: ReadonlyMap<string, string>): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const node of told.without_reserve) {
    const group = groupByNode.get(node) ?? ''
    groups.set(group, [...(groups.get(group) ?? []), node])
  }
  return groups
}

/** Whether an event is shown. Events of disks only repeat those of their instances. */
export const isTold = ({ type, objects: [first = 'disk/'] }: PastEvent): boolean =>
  type !== 'config' || !first.startsWith('disk/')

export interface ToldEvent {
  readonly id: string
  readonly time: string
  readonly text: string
  readonly kind?: string
  readonly name: string
  readonly job?: number
}

type Values = Readonly<Record<string, unknown>>

export function toldOf({ id, type, time, objects, data }: PastEvent): ToldEvent {
  const [first = ''] = objects
  const [kind, ...rest] = first.split('/')
  const { config = {}, cause = {} } = data as { config?: Values; cause?: Values }
  const [job] = [config['jobs'], data['jobs']].find(Array.isArray) ?? [cause?.['job']]
  const change = data['change'] ?? config['change']
  const word = typeof change === 'string' ? (texts.instances.page.event[change] ?? change) : ''
  return {
    ...{ id, time, text: word === '' ? (texts.overview.events.what[type] ?? type) : word },
    ...(rest.length === 0 ? { name: first } : { kind, name: rest.join('/') }),
    ...(typeof job === 'number' ? { job } : {}),
  }
}
