// The data of the cluster's picture: groups and nodes, events on each node, and moves between nodes.
import { byName } from '../../format/by-name'
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'

type ClusterNode = Named<components['schemas']['NodeView']>
type WhatIf = components['schemas']['WhatIf']

export interface GroupPicture {
  readonly name: string
  readonly nodes: readonly ClusterNode[]
}

export function groupsOf(nodes: readonly ClusterNode[]): GroupPicture[] {
  const groups = new Map<string, ClusterNode[]>()
  for (const node of nodes) {
    const name = node.group ?? ''
    const members = groups.get(name)
    if (members === undefined) groups.set(name, [node])
    else members.push(node)
  }
  return [...groups]
    .map(([name, members]) => ({ name, nodes: members.sort((one, other) => byName(one.name, other.name)) }))
    .sort((one, other) => byName(one.name, other.name))
}

export const primariesOf = (nodes: readonly ClusterNode[]): number =>
  nodes.reduce((sum, { pinst_cnt: count }) => sum + (count ?? 0), 0)

/** From 0 to 1; undefined if the node has not reported it. */
export function memoryShare({ mfree, mtotal }: Pick<ClusterNode, 'mfree' | 'mtotal'>): number | undefined {
  if (typeof mfree !== 'number' || typeof mtotal !== 'number' || mtotal <= 0) return undefined
  return Math.min(1, Math.max(0, (mtotal - mfree) / mtotal))
}

/** Omits the common domain, if host names alone are unique. */
export function shortNames(names: readonly string[]): Map<string, string> {
  const hosts = names.map((name) => name.split('.')[0] ?? name)
  const apart = new Set(hosts).size === hosts.length
  return new Map(names.map((name, at) => [name, apart ? (hosts[at] ?? name) : name]))
}

/** Each tag with the number of its nodes. */
export function tagsOf(nodes: readonly ClusterNode[]): [tag: string, count: number][] {
  const counts = new Map<string, number>()
  for (const tag of nodes.flatMap(({ tags }) => tags ?? [])) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  return [...counts].sort(([one], [other]) => byName(one, other))
}

/** The events on a node. */
export interface Mark {
  readonly dead: boolean
  readonly noReserve: boolean
  readonly gains: number
  readonly gives: number
}

export interface Arrow {
  readonly from: string
  readonly to: string
  readonly count: number
}

export interface Happening {
  readonly marks: ReadonlyMap<string, Mark>
  readonly arrows: readonly Arrow[]
}

export const UNMARKED: Mark = { dead: false, noReserve: false, gains: 0, gives: 0 }
export const NOTHING_HAPPENS: Happening = { marks: new Map(), arrows: [] }

interface Move {
  readonly from: readonly string[]
  readonly to: readonly string[]
}

/** An instance that gets another node, as primary or secondary, leaves one node and arrives at another. */
export function happeningOf(moves: readonly Move[], dead: readonly string[] = [], noReserve: readonly string[] = []) {
  const marks = new Map<string, Mark>()
  const mark = (node: string, change: (before: Mark) => Partial<Mark>) => {
    const before = marks.get(node) ?? UNMARKED
    marks.set(node, { ...before, ...change(before) })
  }
  const pairs = moves.flatMap(pairsOf)
  for (const node of dead) mark(node, () => ({ dead: true }))
  for (const node of noReserve) mark(node, () => ({ noReserve: true }))
  for (const { from, to } of pairs) {
    if (from !== undefined) mark(from, ({ gives }) => ({ gives: gives + 1 }))
    mark(to, ({ gains }) => ({ gains: gains + 1 }))
  }
  return { marks, arrows: together(pairs) } satisfies Happening
}

export const happeningOfWhatIf = (told: WhatIf): Happening =>
  happeningOf(
    [...told.restored, ...told.mirrored, ...told.placed.map(({ nodes }) => ({ from: [], to: nodes }))],
    told.dead,
    told.without_reserve,
  )

interface Pair {
  readonly from: string | undefined
  readonly to: string
}

/**
 * Each new node of the instance, with the node that it replaces. A node that only changes its role moves nothing but
 * the instance.
 */
function pairsOf({ from, to }: Move): Pair[] {
  const left = from.filter((node) => !to.includes(node))
  const come = to.filter((node) => !from.includes(node))
  const pairs = come.map((node, at) => ({ from: left[at] ?? from[0], to: node }))
  const [primary = ''] = to
  if (from.includes(primary) && primary !== from[0]) return [{ from: from[0], to: primary }, ...pairs]
  return pairs
}

/** Combines moves between the same two nodes; the widest arrow comes first. */
export function together(pairs: readonly Pair[]): Arrow[] {
  const counts = new Map<string, Arrow>()
  for (const { from, to } of pairs) {
    if (from === undefined || from === to) continue
    const key = `${from} ${to}`
    counts.set(key, { from, to, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()].sort((one, other) => other.count - one.count)
}

/** The tile to which a key leads from one of `count` tiles in rows of `columns`; undefined for other keys. */
export function stepOf(key: string, at: number, count: number, columns: number): number | undefined {
  const last = count - 1
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last },
    ArrowUp: at - columns < 0 ? at : at - columns,
    ArrowDown: at + columns > last ? at : at + columns,
  }
  const next = steps[key]
  return next === undefined ? undefined : Math.min(last, Math.max(0, next))
}
