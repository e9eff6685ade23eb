// Groups nodes that may reboot at the same time: no mirrored instance loses both nodes, and unmirrored ones find room
// on other nodes.
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { type Coloring, type Graph, colorings } from './coloring'
import { Relocations } from './relocations'
import { isMirroredInside } from '../../model/templates'

/** A graph of the nodes from `first` on; excluded nodes have no neighbours. */
export interface NodeGraph {
  readonly first: number
  readonly graph: Graph
}

export interface RebootGroup {
  readonly nodes: readonly number[]
  /** Instances that must move away first. */
  readonly moves: readonly Move[]
}

interface Move {
  readonly instance: number
  readonly primary: number
  readonly secondary: number
}

interface RebootOptions {
  readonly ignoreNonRedundant: boolean
  /** Secondaries must keep their disks too. */
  readonly fullEvacuation: boolean
}

/** The text says which instances found no room. */
export class NoRoom extends Error {}

/**
 * Neighbours must not be down together. With running instances, two primaries with a common secondary must not either.
 */
export function nodeGraph(model: ClusterModel, nodes: readonly number[], instancesDown: boolean): NodeGraph {
  const first = Math.min(...nodes)
  const mirrors = model.instances.flatMap(({ data }) => (isMirroredInside(data.template) ? [data] : []))
  const edges = mirrors.flatMap(({ primary, secondary }): Edge[] => [
    [primary, secondary],
    [secondary, primary],
  ])
  if (!instancesDown) edges.push(...commonSecondaries(model, edges))
  const desired = new Set(nodes)
  const graph: number[][] = Array.from({ length: Math.max(...nodes) - first + 1 }, () => [])
  for (const [from, to] of edges) {
    if (desired.has(from) && desired.has(to)) graph[from - first]?.unshift(to - first)
  }
  return { first, graph }
}

type Edge = readonly [from: number, to: number]

function commonSecondaries(model: ClusterModel, edges: readonly Edge[]): Edge[] {
  const width = model.nodes.length
  const known = new Set(edges.map(([from, to]) => from * width + to))
  const { secondaries } = new Relocations(model)
  return secondaries.flatMap((instances) => {
    const primaries = [...new Set(instances.map((one) => model.primary[one] ?? NO_NODE))]
    const pairs = primaries.flatMap((from) => primaries.map((to): Edge => [from, to]))
    return pairs.filter(([from, to]) => {
      const edge = from * width + to
      return known.size !== known.add(edge).size
    })
  })
}

/** Ganeti's three colourings of the graph. */
export const nodeColorings = ({ first, graph }: NodeGraph): Coloring[] =>
  colorings(graph).map(({ name, classes }) => ({ name, classes: classes.map((one) => one.map((at) => at + first)) }))

/**
 * The classes of the smallest colouring, split until the unmirrored instances of each can move away. Restores the
 * model.
 */
export function rebootGroups(model: ClusterModel, found: readonly Coloring[], options: RebootOptions): RebootGroup[] {
  const smallest = found.reduce((best, one) => (one.classes.length < best.classes.length ? one : best))
  const relocations = new Relocations(model)
  const targets = model.nodes.flatMap(({ offline }, at) => (offline ? [] : [at]))
  const nonRedundant = {
    missing: 'non-redundant instances',
    instances: (node: number) => (relocations.primaries[node] ?? []).filter((one) => !relocations.isMirrored(one)),
    relocate: (instance: number, to: number) => relocations.move(instance, to),
  }
  const mirrors = {
    missing: 'secondaries',
    instances: (node: number) => relocations.secondaries[node] ?? [],
    relocate: (instance: number, to: number) => relocations.replaceSecondary(instance, to),
  }
  const groups: RebootGroup[] = []
  for (const nodes of smallest.classes) {
    const cleared = options.ignoreNonRedundant ? [nodes] : partition(model, relocations, nodes, targets, nonRedundant)
    for (const part of cleared) {
      if (!options.fullEvacuation) {
        groups.push({ nodes: part, moves: movesOf(model) })
        continue
      }
      const mark = relocations.mark()
      migrateAway(relocations, part)
      for (const piece of partition(model, relocations, part, targets, mirrors)) {
        groups.push({ nodes: piece, moves: movesOf(model) })
      }
      relocations.undo(mark)
    }
  }
  return groups
}

/** The biggest groups first, but the master's group last, and the master last in it. */
export function rebootOrder(
  { data }: ClusterModel,
  desired: readonly number[],
  groups: readonly RebootGroup[],
): RebootGroup[] {
  const isMaster = (node: number) => data.nodes[node]?.master === true
  const late = ({ nodes }: RebootGroup) => Number(nodes.some(isMaster))
  return groups
    .map(({ nodes, moves }) => ({
      nodes: nodes.filter((node) => desired.includes(node)).sort((a, b) => Number(isMaster(a)) - Number(isMaster(b))),
      moves,
    }))
    .sort((a, b) => b.nodes.length - a.nodes.length)
    .sort((a, b) => late(a) - late(b))
}

interface Kind {
  readonly missing: string
  instances(node: number): readonly number[]
  relocate(instance: number, to: number): boolean
}

/** Parts that can be cleared one after the other. While a part is handled, the model is as after clearing it. */
function* partition(
  model: ClusterModel,
  relocations: Relocations,
  nodes: readonly number[],
  targets: readonly number[],
  kind: Kind,
): Generator<readonly number[]> {
  let left = nodes
  while (left.length > 0) {
    const mark = relocations.mark()
    const cleared = clear(model, relocations, left, targets, kind)
    if (cleared.length === 0) throw new NoRoom(`Not enough capacity to move ${kind.missing}`)
    yield cleared
    relocations.undo(mark)
    left = left.filter((node) => !cleared.includes(node))
  }
}

/** Greedy: a node whose instances find no room is left for a later part. */
function clear(
  model: ClusterModel,
  relocations: Relocations,
  nodes: readonly number[],
  targets: readonly number[],
  { instances, relocate }: Kind,
): number[] {
  const cleared = new Set<number>()
  const groupOf = (node: number) => model.data.nodes[node]?.group
  for (const node of nodes) {
    const others = targets.filter((to) => to !== node && !cleared.has(to) && groupOf(to) === groupOf(node))
    const mark = relocations.mark()
    if (instances(node).every((one) => others.some((to) => relocate(one, to)))) cleared.add(node)
    else relocations.undo(mark)
  }
  return [...cleared]
}

function migrateAway(relocations: Relocations, nodes: readonly number[]): void {
  const own = nodes.flatMap((node) => relocations.primaries[node] ?? [])
  for (const instance of own.filter((one) => relocations.isMirrored(one))) {
    if (!relocations.migrate(instance)) throw new NoRoom('Failed to migrate instances off nodes')
  }
}

/** An instance whose nodes only exchange roles does not move. */
function movesOf({ data, primary, secondary }: ClusterModel): Move[] {
  return data.instances.flatMap((before, instance) => {
    const mirrored = isMirroredInside(before.template)
    const after = { primary: primary[instance] ?? NO_NODE, secondary: secondary[instance] ?? NO_NODE }
    const stays = after.primary === before.primary && (!mirrored || after.secondary === before.secondary)
    const swapped = after.primary === before.secondary && after.secondary === before.primary
    return stays || swapped
      ? []
      : [{ instance, primary: after.primary, secondary: mirrored ? after.secondary : NO_NODE }]
  })
}
