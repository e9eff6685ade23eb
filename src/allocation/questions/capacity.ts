// How many instances of a specification fit into each node group, and where they would go.
import type { Capacity, GroupCapacity } from '../../model/allocation'
import type { AllocOptions } from '../model/options'
import { names } from './balance-plan'
import { groupNodes } from '../places/choose-group'
import { type ClusterData, NO_NODE } from '../model/cluster-data'
import { type ClusterModel, buildModel } from '../model/cluster-model'
import { candidatesFor } from '../explain/explain'
import { toCandidateNode, whyNone } from '../model/explain-text'
import { Filling } from '../places/filling'
import type { NewInstance } from '../model/requests'

export interface CapacityQuestion {
  readonly kind: 'capacity'
  readonly instance: NewInstance
  /** By name. */
  readonly groups: readonly string[]
  /** Names of the nodes that may be used; null for all. */
  readonly nodes: readonly string[] | null
  /** The limit in each group; null for none. */
  readonly most: number | null
  readonly explain: boolean
}

export function capacityByGroup(data: ClusterData, question: CapacityQuestion, options: AllocOptions): Capacity {
  const groups = data.groups.flatMap(({ name }, at) =>
    // Each group is counted as if the others stayed unchanged.
    question.groups.includes(name) ? [capacityOf(buildModel(data), at, question, options)] : [],
  )
  return { fits: groups.reduce((sum, { fits }) => sum + fits, 0), groups }
}

function capacityOf(
  model: ClusterModel,
  at: number,
  { instance, nodes, most, explain }: CapacityQuestion,
  options: AllocOptions,
): GroupCapacity {
  const { name: group = '', allocPolicy: alloc_policy = 'unallocable', networks = [] } = model.data.groups[at] ?? {}
  const all = groupNodes(model, at)
  const usable = all.filter((node) => {
    const facts = model.nodes[node]
    return facts?.offline === false && (nodes === null || nodes.includes(facts.data.name))
  })
  const connected = (instance.data.networks ?? []).every((network) => networks.includes(network))
  const filling = new Filling(model, connected ? usable : [], all, options)
  const { added } = most === 0 ? { added: [] } : filling.fill(instance.data, most ?? undefined)
  const full = added.length < (most ?? Infinity)
  const candidates = full || explain ? candidatesFor(model, { ...instance, group }, { ...options, ...only(nodes) }) : []
  const displayed = candidates.filter(({ node, reject }) => reject !== 'other group' && (nodes?.includes(node) ?? true))
  return {
    ...{ group, alloc_policy, fits: added.length },
    nodes: added.map((one) => names(model, model.primary[one] ?? NO_NODE, model.secondary[one] ?? NO_NODE)),
    reason: full ? (whyNone(displayed) ?? NO_MORE) : null,
    candidates: explain ? displayed.map(toCandidateNode) : null,
  }
}

const NO_MORE = 'no more fit'

const only = (nodes: readonly string[] | null) => (nodes === null ? {} : { restrictTo: nodes })
