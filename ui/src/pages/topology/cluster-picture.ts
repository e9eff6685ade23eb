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

/** How many instances come or leave, and how many mirrors do without their instance. */
export interface Moved {
  readonly instances: number
  readonly mirrors: number
}

/** The events on a node. */
export interface Mark {
  readonly dead: boolean
  readonly noReserve: boolean
  readonly gains: Moved
  readonly gives: Moved
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

const NONE_MOVED: Moved = { instances: 0, mirrors: 0 }
export const UNMARKED: Mark = { dead: false, noReserve: false, gains: NONE_MOVED, gives: NONE_MOVED }
export const NOTHING_HAPPENS: Happening = { marks: new Map(), arrows: [] }

interface Move {
  readonly from: readonly string[]
  readonly to: readonly string[]
}

const more = (before: Moved, what: keyof Moved): Moved => ({ ...before, [what]: before[what] + 1 })

/** Each instance counts once, at the nodes where it runs before and afterwards. Its mirror counts where nothing else of it changes. */
export function happeningOf(moves: readonly Move[], dead: readonly string[] = [], noReserve: readonly string[] = []) {
  const marks = new Map<string, Mark>()
  const mark = (node: string, change: (before: Mark) => Partial<Mark>) => {
    const before = marks.get(node) ?? UNMARKED
    marks.set(node, { ...before, ...change(before) })
  }
  const changes = moves.map(changeOf)
  for (const node of dead) mark(node, () => ({ dead: true }))
  for (const node of noReserve) mark(node, () => ({ noReserve: true }))
  for (const { instance, left, come } of changes) {
    if (instance?.from !== undefined) mark(instance.from, ({ gives }) => ({ gives: more(gives, 'instances') }))
    if (instance !== undefined) mark(instance.to, ({ gains }) => ({ gains: more(gains, 'instances') }))
    for (const node of left) mark(node, ({ gives }) => ({ gives: more(gives, 'mirrors') }))
    for (const { to } of come) mark(to, ({ gains }) => ({ gains: more(gains, 'mirrors') }))
  }
  const pairs = changes.flatMap(({ instance, come }) => [...(instance === undefined ? [] : [instance]), ...come])
  return { marks, arrows: together(pairs) } satisfies Happening
}

export const happeningOfWhatIf = (reported: WhatIf): Happening =>
  happeningOf(
    [
      ...joined([...reported.restored, ...reported.mirrored]),
      ...reported.placed.map(({ nodes }) => ({ from: [], to: nodes })),
    ],
    reported.dead,
    reported.without_reserve,
  )

/** One move for each instance, from its first nodes to its last ones. */
export function joined(moves: readonly (Move & { readonly instance: string })[]): Move[] {
  const byInstance = new Map<string, Move>()
  for (const { instance, from, to } of moves)
    byInstance.set(instance, { from: byInstance.get(instance)?.from ?? from, to })
  return [...byInstance.values()]
}

interface Pair {
  readonly from: string | undefined
  readonly to: string
}

interface Change {
  /** Where the instance runs before and afterwards, if that differs. */
  readonly instance: Pair | undefined
  /** Other nodes that lose its disks. */
  readonly left: readonly string[]
  /** Other nodes that get its disks, with those that they replace. */
  readonly come: readonly Pair[]
}

/** Nodes that only exchange their roles move nothing but the instance. */
function changeOf({ from, to }: Move): Change {
  const [was, is] = [from[0], to[0]]
  const moves = is !== undefined && was !== is
  const left = from.filter((node) => !to.includes(node) && !(moves && node === was))
  const come = to.filter((node) => !from.includes(node) && !(moves && node === is))
  return {
    ...{ instance: moves ? { from: was, to: is } : undefined, left },
    come: come.map((node, at) => ({ from: left[at] ?? was, to: node })),
  }
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
