// Two questions that Ganeti's protocol has no answer to: which moves would balance the cluster, and how many instances fit.
import type { AllocOptions } from './allocate'
import { balance } from './balance'
import { groupByName, groupNodes } from './choose-group'
import { NO_NODE } from './cluster-data'
import type { ClusterModel } from './cluster-model'
import { failText } from './fail-modes'
import { Filling } from './filling'
import type { NewInstance } from './requests'

interface Planned {
  readonly info: string
  readonly result: unknown
}

/** `[instance, nodes before, nodes after]` in order, at most `maxMoves`; below 0: as many as there are. */
export function planBalance(
  model: ClusterModel,
  maxMoves: number,
  group: string | undefined,
  { ignoreSoftErrors }: AllocOptions,
): Planned {
  const groups = group === undefined ? model.data.groups.map((_, at) => at) : [groupByName(model, group)]
  const limits = { minGain: 0.01, minGainLimit: 0.1, minScore: 1e-9, ignoreSoftErrors }
  const allowed = { diskMoves: true, instanceMoves: true, restrictedMigration: false, evacuate: false }
  const moves: [string, string[], string[]][] = []
  for (const at of groups) {
    const nodes = groupNodes(model, at)
    const inside = new Set(nodes)
    const own = model.instances.flatMap((_, one) => (inside.has(model.primary[one] ?? NO_NODE) ? [one] : []))
    const maxRounds = maxMoves < 0 ? -1 : maxMoves - moves.length
    for (const { move, oldPrimary, oldSecondary } of balance(model, nodes, own, { ...limits, ...allowed, maxRounds })) {
      const name = model.instances[move.instance]?.data.name ?? ''
      moves.push([name, names(model, oldPrimary, oldSecondary), names(model, move.primary, move.secondary)])
    }
  }
  return { info: `${moves.length} moves`, result: moves }
}

/** The nodes of each instance that fits, in order; at most `most` of them, below 0: as many as fit. */
export function planCapacity(
  model: ClusterModel,
  { data, group }: NewInstance,
  most: number,
  options: AllocOptions,
): Planned {
  const only = group === undefined ? undefined : groupByName(model, group)
  const all = model.nodes.map((_, at) => at)
  const nodes = all.filter((node) => {
    const facts = model.nodes[node]
    if (facts === undefined || facts.offline) return false
    if (only !== undefined) return facts.data.group === only
    return model.data.groups[facts.data.group]?.allocPolicy !== 'unallocable'
  })
  const { added, failures } = new Filling(model, nodes, all, options).fill(data, most < 0 ? undefined : most)
  const places = added.map((at) => names(model, model.primary[at] ?? NO_NODE, model.secondary[at] ?? NO_NODE))
  return { info: `${added.length} instances fit; the next one: ${failText(failures)}`, result: [added.length, places] }
}

const names = (model: ClusterModel, ...nodes: readonly number[]): string[] =>
  nodes.flatMap((node) => model.data.nodes[node]?.name ?? [])
