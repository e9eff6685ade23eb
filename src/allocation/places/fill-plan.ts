// Settings for filling a cluster with instances of one size or of shrinking sizes: the usable nodes, and the limits.
import { ALLOC_DEFAULTS, type AllocOptions } from '../model/options'
import type { DiskTemplate } from '../../model/templates'
import { type InstanceData, nodesNeeded } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import type { Filled, Filling } from './filling'
import { GlobalN1 } from '../model/global-n1'
import { Verdict } from '../model/placement'
import { Score } from '../model/score'
import { fillTiers } from './tiers'

export interface FillSettings {
  readonly template: DiskTemplate
  /** The largest number of instances to place. */
  readonly limit: number | undefined
  /** Also uses nodes that fail N+1 before anything is placed. */
  readonly acceptExisting: boolean
  /** A failing group does not stop the others. */
  readonly independent: boolean
  readonly capacity: boolean
}

export interface FillPlan {
  readonly nodes: readonly number[]
  readonly options: AllocOptions
  readonly limit: number | undefined
  /** Indexes of nodes that fail N+1, and of groups that could not be evacuated. */
  readonly bad: { readonly nodes: readonly number[]; readonly groups: readonly number[] }
  readonly mirrored: boolean
  /** Nothing is placed, because the cluster already fails N+1. */
  readonly stopped: boolean
}

export function fillPlan(model: ClusterModel, settings: FillSettings): FillPlan {
  const { template, limit, acceptExisting, independent, capacity } = settings
  const all = model.nodes.map((_, at) => at)
  const bad = new Score(model, all).failing()
  const groupOf = (node: number) => model.data.nodes[node]?.group ?? -1
  const base = { ...ALLOC_DEFAULTS, capacity, acceptExisting }
  const badGroups = model.data.groups.flatMap((_, group) => {
    const own = all.filter((node) => groupOf(node) === group)
    return new GlobalN1(model, own, base).holds() ? [] : [group]
  })
  const closed = new Set([
    ...(acceptExisting ? [] : bad.map(groupOf)),
    ...(independent ? badGroups : []),
    ...model.data.groups.flatMap(({ allocPolicy }, at) => (allocPolicy === 'unallocable' ? [at] : [])),
  ])
  const open = model.data.groups.some((_, at) => !closed.has(at))
  const stopped = !acceptExisting && !(independent && open) && bad.length > 0
  let nodes = all.filter((node) => model.nodes[node]?.offline === false && !closed.has(groupOf(node)))
  const mirrored = nodesNeeded(template) === 2
  if (mirrored) {
    // A node that is alone in its group cannot take a mirror.
    nodes = nodes.filter((node) => nodes.some((other) => other !== node && groupOf(other) === groupOf(node)))
  }
  const ignores = independent ? badGroups : []
  return {
    ...{ nodes, mirrored, stopped, bad: { nodes: bad, groups: badGroups } },
    options: { ...base, capacityIgnores: ignores },
    limit,
  }
}

/** One failed place of N+1, as Ganeti counts it. */
export const NOTHING_PLACED: Filled = {
  refused: true,
  added: [],
  failures: Object.assign([], { [Verdict.n1]: 1 }),
}

export function fillInTiers(filling: Filling, { stopped, limit }: FillPlan, specs: readonly InstanceData[]): Filled {
  let all: Filled = stopped ? NOTHING_PLACED : { added: [], failures: [] }
  if (stopped) return all
  for (const spec of specs) {
    const rest = limit === undefined ? undefined : limit - all.added.length
    if (rest !== undefined && rest <= 0) break
    const more = fillTiers(filling, spec, rest, all.added.length)
    all = { added: [...all.added, ...more.added], failures: more.failures }
  }
  return all
}
