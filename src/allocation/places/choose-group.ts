// Chooses the node group for a new instance: finds the best place in each, then the group by its policy and the score.
import type { AllocOptions } from '../model/options'
import { Allocator, type Tried } from './allocate'
import type { Changes } from '../model/changes'
import { BadClusterData } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { type DedicatedTried, compareLoss, lossText, tryDedicated } from './dedicated'
import { failText } from '../model/fail-modes'
import { score8 } from '../model/numbers'
import type { Placed } from '../model/ties'

export interface Choice {
  readonly group: number
  readonly placed: Placed
  readonly log: readonly string[]
}

export interface Wanted {
  /** In the model, without nodes. */
  readonly instance: number
  readonly required: number
}

/** The result for one group. */
interface Attempt {
  readonly group: number
  readonly tried: Tried | DedicatedTried | string
}

const POLICY_ORDER = { preferred: 0, last_resort: 1, unallocable: 2 }

/** The indexes of all nodes in a group. */
export const groupNodes = (model: ClusterModel, group: number): number[] =>
  model.data.nodes.flatMap((node, at) => (node.group === group ? [at] : []))

/** The best of all groups; the error names each group's obstacle. */
export function chooseGroup(
  model: ClusterModel,
  desired: Wanted,
  options: AllocOptions,
  changes: Changes,
  allowed?: readonly number[],
): Choice {
  const used = model.data.groups.flatMap((_, group) => (groupNodes(model, group).length > 0 ? [group] : []))
  const groups = allowed === undefined ? used : used.filter((group) => allowed.includes(group))
  if (groups.length === 0) {
    throw new BadClusterData(
      `no groups for evacuation: allowed groups was ${allowed === undefined ? 'Nothing' : `Just [${allowed.join(',')}]`}`,
    )
  }
  const connected = groups.filter((group) => hasNetworks(model, group, desired.instance))
  const unconnected = groups
    .filter((group) => !connected.includes(group))
    .map((group) => `group ${nameOf(model, group)} ${lacksNetwork(model, desired.instance)}`)
  const allocator = new Allocator(
    model,
    model.nodes.map((_, at) => at),
    options,
    changes,
  )
  const attempts = connected.map((group) => ({
    group,
    tried: tryNodes(model, desired, group, options, (nodes) =>
      allocator.tell(desired.instance, desired.required, nodes),
    ),
  }))
  const log = [...unconnected, ...attempts.map((attempt) => describe(model, attempt))]
  const best = bestAttempt(model, attempts)
  if (best === undefined) throw new BadClusterData(log.join(', '))
  return { ...best, log }
}

/** The best place in this group, whatever its policy. */
export function placeInGroup(
  model: ClusterModel,
  desired: Wanted,
  options: AllocOptions,
  changes: Changes,
  group: number,
): { placed: Placed | undefined; log: readonly string[] } {
  if (!hasNetworks(model, group, desired.instance)) {
    throw new BadClusterData(`The group ${nameOf(model, group)} ${lacksNetwork(model, desired.instance)}`)
  }
  const allocator = new Allocator(model, groupNodes(model, group), options, changes)
  const tried = tryNodes(model, desired, group, options, (nodes) =>
    allocator.tell(desired.instance, desired.required, nodes),
  )
  if (typeof tried === 'string') throw new BadClusterData(tried)
  return { placed: tried.solution, log: [describe(model, { group, tried })] }
}

/** For instances that have whole disks to themselves. Without a group, the best of all. */
export function placeDedicated(
  model: ClusterModel,
  desired: Wanted,
  options: AllocOptions,
  changes: Changes,
  only: number | undefined,
): Choice {
  const attempt = (group: number): Attempt => {
    if (!hasNetworks(model, group, desired.instance)) {
      return { group, tried: `The group ${nameOf(model, group)} ${lacksNetwork(model, desired.instance)}` }
    }
    const choose = (nodes: readonly number[]) => tryDedicated(model, changes, desired.instance, nodes, options)
    return { group, tried: tryNodes(model, desired, group, options, choose) }
  }
  const used = model.data.groups.flatMap((_, group) => (groupNodes(model, group).length > 0 ? [group] : []))
  const attempts = (only === undefined ? used : [only]).map(attempt)
  const log = attempts.map((one) => describe(model, one))
  const best = only === undefined ? bestAttempt(model, attempts) : attempts.map(solved)[0]
  if (best === undefined) {
    const [first] = attempts
    throw new BadClusterData(only !== undefined && typeof first?.tried === 'string' ? first.tried : log.join(', '))
  }
  return { ...best, log }
}

const solved = ({ group, tried }: Attempt) =>
  typeof tried === 'string' || tried.solution === undefined ? undefined : { group, placed: tried.solution }

export function groupByName(model: ClusterModel, name: string): number {
  const found = model.data.groups.flatMap((group, at) => (group.name === name ? [at] : []))
  if (found.length !== 1) throw new BadClusterData(`Wrong number of elems found with name ${name}`)
  return found[0] ?? -1
}

export function describeTried(model: ClusterModel, tried: Tried | DedicatedTried): string {
  const { solution, fits, failures } = tried
  const reasons = failText(failures)
  if (solution === undefined) {
    return `No valid allocation solutions, failure reasons: ${reasons === '' ? 'unknown reasons' : reasons}`
  }
  const failed = failures.reduce((sum, one) => sum + one, 0)
  const nodes = namesOf(model, solution).join('/')
  const loss = 'loss' in tried ? tried.loss : undefined
  const score = loss === undefined ? score8(solution.score) : lossText(loss)
  return `score: ${score}, successes ${fits}, failures ${failed} (${reasons}) for node(s) ${nodes}`
}

export const namesOf = (model: ClusterModel, { primary, secondary }: Placed): string[] =>
  [primary, secondary].flatMap((node) => model.data.nodes[node]?.name ?? [])

function tryNodes(
  model: ClusterModel,
  { required }: Wanted,
  group: number,
  { restrictTo }: AllocOptions,
  attempt: (nodes: readonly number[]) => Tried | DedicatedTried,
): Tried | DedicatedTried | string {
  if (required !== 1 && required !== 2) return 'Unsupported number of nodes, only one or two  supported'
  const nodes = groupNodes(model, group).filter((node) => {
    const facts = model.nodes[node]
    return facts !== undefined && !facts.offline && (restrictTo === undefined || restrictTo.includes(facts.data.name))
  })
  if (required === 1 && nodes.length === 0) return 'No online nodes'
  if (required === 2 && nodes.length < 2) return 'Not enough online nodes'
  return attempt(nodes)
}

/** Groups that are not to be used without being named are tried but not chosen. Among equals the last one wins. */
function bestAttempt(model: ClusterModel, attempts: readonly Attempt[]): { group: number; placed: Placed } | undefined {
  const good = attempts.flatMap(({ group, tried }) => {
    const placed = typeof tried === 'string' ? undefined : tried.solution
    const policy = model.data.groups[group]?.allocPolicy ?? 'unallocable'
    const loss = typeof tried !== 'string' && 'loss' in tried ? tried.loss : undefined
    return placed === undefined || policy === 'unallocable' ? [] : [{ group, placed, loss, rank: POLICY_ORDER[policy] }]
  })
  const better = (one: (typeof good)[number], other: (typeof good)[number]) =>
    one.loss && other.loss ? compareLoss(one.loss, other.loss) : one.placed.score - other.placed.score
  good.reverse().sort((one, other) => one.rank - other.rank || better(one, other))
  return good[0]
}

function describe(model: ClusterModel, { group, tried }: Attempt): string {
  if (typeof tried === 'string') return `Group ${nameOf(model, group)}: error ${tried}`
  return `Group ${nameOf(model, group)} (${model.data.groups[group]?.allocPolicy}): ${describeTried(model, tried)}`
}

const nameOf = (model: ClusterModel, group: number): string => model.data.groups[group]?.name ?? ''

const lacksNetwork = (model: ClusterModel, instance: number): string =>
  `is not connected to a network required by instance ${model.instances[instance]?.data.name}`

function hasNetworks(model: ClusterModel, group: number, instance: number): boolean {
  const networks = model.data.groups[group]?.networks ?? []
  return (model.instances[instance]?.data.networks ?? []).every((network) => networks.includes(network))
}
