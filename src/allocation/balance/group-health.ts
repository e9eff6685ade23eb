// Figures for the health of a node group, and the group after a balance.
import { ALLOC_DEFAULTS } from '../model/options'
import { type BalanceOptions, balance } from './balance'
import { type ClusterModel, Col } from '../model/cluster-model'
import { GlobalN1 } from '../model/global-n1'
import { Score } from '../model/score'

/** A group that has nodes, with the instances that run there. */
export interface BalancedGroup {
  readonly at: number
  readonly name: string
  readonly nodes: readonly number[]
  readonly instances: readonly number[]
}

export interface GroupHealth {
  readonly group: BalancedGroup
  /**
   * Counts: nodes that fail N+1, nodes with conflicting instances, instances with an offline primary, with an offline
   * secondary, nodes that cannot be evacuated.
   */
  readonly counts: readonly number[]
  readonly score: number
}

export function healthOf(model: ClusterModel, group: BalancedGroup, capacity: boolean): GroupHealth {
  const { nodes } = group
  const score = new Score(model, nodes)
  const get = (node: number, col: Col) => model.rows[node * Col.Width + col] ?? 0
  const offline = nodes.filter((node) => model.nodes[node]?.offline)
  return {
    group,
    score: score.value(),
    counts: [
      score.failing().length,
      nodes.filter((node) => get(node, Col.TagClashes) > 0).length,
      offline.reduce((sum, node) => sum + get(node, Col.Primaries), 0),
      offline.length,
      ...(capacity ? [new GlobalN1(model, nodes, { ...ALLOC_DEFAULTS, capacity }).failing().length] : []),
    ],
  }
}

export function groupsIn({ data }: ClusterModel): BalancedGroup[] {
  return data.groups.flatMap(({ name }, at) => {
    const nodes = data.nodes.flatMap(({ group }, node) => (group === at ? [node] : []))
    const own = data.instances.flatMap(({ primary }, one) => (data.nodes[primary]?.group === at ? [one] : []))
    return nodes.length === 0 ? [] : [{ at, name, nodes, instances: own }]
  })
}

/** Makes all moves of a balance at once: only the result counts. */
export function rebalance(model: ClusterModel, { nodes, instances }: BalancedGroup, settings: BalanceOptions): void {
  const score = new Score(model, nodes)
  if (score.value() < settings.minScore + score.optimum()) return
  const steps = balance(model, nodes, instances, settings)
  while (steps.next().done !== true);
}
