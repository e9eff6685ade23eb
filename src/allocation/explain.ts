// Why a new instance fits where it fits and not elsewhere, node by node.
import type { Reject } from '../model/allocation'
import type { AllocOptions } from './allocate'
import { Changes } from './changes'
import { nodesNeeded } from './cluster-data'
import { type ClusterModel, Col, type NodeFacts, freeMemory, instanceFacts } from './cluster-model'
import { SPINDLE_RATIO } from './explain-text'
import { failMode } from './fail-modes'
import { Placement, SOFT, STRICT, Verdict } from './placement'
import { judgePolicy } from './policy'
import type { Candidate, NewInstance } from './requests'
import { Score, SPREAD_COUNT } from './score'

/** Every node as a place of the instance, as the cluster is now. */
export function candidatesFor(model: ClusterModel, wanted: NewInstance, options: AllocOptions): Candidate[] {
  const changes = new Changes(model, options.ignoreSoftErrors)
  const instance = changes.add(instanceFacts(wanted.data, model.data, model.settings, wanted.data.name))
  const all = model.nodes.map((_, at) => at)
  const look = new Look(model, new Score(model, all), instance, options)
  try {
    return all.map((node) => excluded(model, wanted, options, node) ?? look.at(node, all))
  } finally {
    changes.drop()
  }
}

function excluded(
  model: ClusterModel,
  wanted: NewInstance,
  options: AllocOptions,
  node: number,
): Candidate | undefined {
  const facts = model.nodes[node]
  const group = model.data.groups[facts?.data.group ?? -1]
  if (facts === undefined || group === undefined) return undefined
  const no = (reject: Reject): Candidate => ({ node: facts.data.name, reject })
  if (wanted.group === undefined ? group.allocPolicy === 'unallocable' : group.name !== wanted.group) {
    return no('other group')
  }
  if (facts.offline) return no(whyOffline(facts))
  if (options.restrictTo?.includes(facts.data.name) === false) return no('not locked')
  const lacks = (wanted.data.networks ?? []).some((network) => !group.networks.includes(network))
  return lacks ? no('no network') : undefined
}

const UNUSABLE: readonly Reject[] = ['offline', 'drained', 'not vm_capable', 'no answer']

/** What else than dead a node may be that counts as offline. */
export const whyOffline = ({ data }: NodeFacts): Reject => UNUSABLE.find((one) => one === data.unusable) ?? 'offline'

class Look {
  private readonly placement: Placement
  private readonly before: number

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly instance: number,
    private readonly options: AllocOptions,
  ) {
    this.placement = new Placement(model, new Float64Array(Col.Width))
    this.before = score.value()
  }

  at(node: number, partners: readonly number[]): Candidate {
    const { model, instance } = this
    const facts = model.instances[instance]
    const name = model.data.nodes[node]?.name ?? ''
    const target = model.nodes[node]
    if (facts === undefined || target === undefined) return { node: name, reject: 'FailInternal' }
    const policy = model.data.groups[target.data.group]?.policy ?? model.data.policy
    const wrong = this.options.ignorePolicy ? Verdict.ok : judgePolicy(facts.data, policy, target.data.exclusiveStorage)
    if (wrong !== Verdict.ok) return { node: name, reject: 'policy', detail: POLICY[wrong] ?? 'for another reason' }
    const soft = this.options.ignoreSoftErrors ? SOFT : STRICT
    this.placement.copy(node, 0)
    const verdict = this.placement.addPrimary(0, node, instance, 0, soft)
    if (verdict !== Verdict.ok)
      return { node: name, reject: failMode(verdict), ...shortage(model, instance, node, verdict) }
    const primary = this.differ(node)
    if (nodesNeeded(facts.data.template) === 1) return { node: name, scoreChange: this.change(primary, NOTHING) }
    return this.pair(
      node,
      primary,
      partners.filter((other) => this.isPartner(node, other)),
    )
  }

  private pair(node: number, primary: Float64Array, partners: readonly number[]): Candidate {
    const { model, instance } = this
    const name = model.data.nodes[node]?.name ?? ''
    const failures = new Map<Verdict, number>()
    let best: { secondary: number; change: number } | undefined
    for (const secondary of partners) {
      this.placement.copy(secondary, 0)
      const verdict = this.placement.addSecondary(0, secondary, instance, node, STRICT)
      if (verdict !== Verdict.ok) failures.set(verdict, (failures.get(verdict) ?? 0) + 1)
      else {
        const change = this.change(primary, this.differ(secondary))
        if (best === undefined || change < best.change) best = { secondary, change }
      }
    }
    if (best !== undefined) {
      return { node: name, secondary: model.data.nodes[best.secondary]?.name ?? '', scoreChange: best.change }
    }
    const [most] = [...failures].sort(([, one], [, other]) => other - one)
    return { node: name, reject: failMode(most?.[0] ?? Verdict.internal) }
  }

  private isPartner(node: number, other: number): boolean {
    const { nodes, data } = this.model
    if (other === node || nodes[other]?.offline !== false) return false
    const restricted = this.options.restrictTo?.includes(data.nodes[other]?.name ?? '') === false
    return data.nodes[other]?.group === data.nodes[node]?.group && !restricted
  }

  private differ(node: number): Float64Array {
    const difference = new Float64Array(2 * SPREAD_COUNT + 1)
    this.score.difference(node, this.placement.rows, 0, difference)
    return difference
  }

  private change(one: Float64Array, other: Float64Array): number {
    return this.score.after(Infinity, 0, one, other, NOTHING) - this.before
  }
}

/** What the policy of a group forbids. */
const POLICY: { readonly [V in Verdict]?: string } = {
  [Verdict.memory]: 'by its memory',
  [Verdict.disk]: 'by the size of its disks, or by their template',
  [Verdict.cpu]: 'by its CPUs',
  [Verdict.diskCount]: 'by the number of its disks',
  [Verdict.spindles]: 'by its spindles',
}

/** What there is of that which is short, where the node would become the primary. */
export function shortage(
  model: ClusterModel,
  instance: number,
  node: number,
  verdict: Verdict,
): Pick<Candidate, 'free' | 'needed' | 'detail'> {
  const facts = model.nodes[node]
  const data = model.instances[instance]?.data
  if (facts === undefined || data === undefined) return {}
  const get = (col: Col) => model.rows[node * Col.Width + col] ?? 0
  if (verdict === Verdict.memory) {
    const free = freeMemory(model, node)
    const unreserved = free - data.memory <= 0 ? free : Math.min(free - get(Col.Reserved), get(Col.FreeMemoryAll))
    return { free: Math.max(0, unreserved), needed: data.memory }
  }
  if (verdict === Verdict.disk) {
    const free = Math.min(get(Col.FreeDisk), get(Col.FreeDiskAll)) - facts.lowDisk
    if (free <= data.disk) return { free: Math.max(0, free), needed: data.disk }
    const spindles = facts.highSpindles - Math.max(get(Col.UsedSpindles), get(Col.UsedSpindlesAll))
    return { free: Math.max(0, spindles), needed: data.spindleUse, detail: SPINDLE_RATIO }
  }
  if (verdict === Verdict.cpu) {
    return { free: Math.max(0, facts.vcpuRatio * facts.data.totalCpus - get(Col.VcpusAll)), needed: data.vcpus }
  }
  return {}
}

const NOTHING = new Float64Array(2 * SPREAD_COUNT + 1)
