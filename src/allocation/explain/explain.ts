// Explains, node by node, where a new instance fits and where not.
import type { Reject } from '../../model/allocation'
import type { AllocOptions } from '../model/options'
import { Changes } from '../model/changes'
import { type InstanceData, NO_NODE, type Policy, type Spec, nodesNeeded } from '../model/cluster-data'
import { type ClusterModel, Col, type NodeFacts, freeMemory, instanceFacts } from '../model/cluster-model'
import { isDedicated } from '../places/dedicated'
import { SPINDLE_RATIO, grouped, tally } from '../model/explain-text'
import { failMode } from '../model/fail-modes'
import { GlobalN1 } from '../model/global-n1'
import { Placement, SOFT, STRICT, Verdict } from '../model/placement'
import { disksOf, judgePolicy } from '../model/policy'
import type { Candidate, NewInstance } from '../model/requests'
import { NO_DIFFERENCE, Score, newDifference } from '../model/score'

/** Every node as a place of the instance, as the cluster is now. */
export function candidatesFor(model: ClusterModel, desired: NewInstance, options: AllocOptions): Candidate[] {
  const changes = new Changes(model, options.ignoreSoftErrors)
  const instance = changes.add(instanceFacts(desired.data, model.data, model.settings, desired.data.name))
  const all = model.nodes.map((_, at) => at)
  const groupOf = (node: number) => model.data.groups[model.data.nodes[node]?.group ?? -1]?.name
  const requested = desired.group === undefined ? all : all.filter((node) => groupOf(node) === desired.group)
  // This check does not apply to instances that have whole disks to themselves.
  const n1 =
    options.capacity && !isDedicated(model, desired.group) ? new GlobalN1(model, requested, options) : undefined
  const look = new Look(model, new Score(model, all), instance, options, n1)
  try {
    return all.map((node) => excluded(model, desired, options, node) ?? look.at(node, all))
  } finally {
    changes.drop()
  }
}

function excluded(
  model: ClusterModel,
  desired: NewInstance,
  options: AllocOptions,
  node: number,
): Candidate | undefined {
  const facts = model.nodes[node]
  const group = model.data.groups[facts?.data.group ?? -1]
  if (facts === undefined || group === undefined) return undefined
  const no = (reject: Reject): Candidate => ({ node: facts.data.name, reject })
  if (desired.group !== undefined && group.name !== desired.group) return no('other group')
  if (desired.group === undefined && group.allocPolicy === 'unallocable') return no('unallocable')
  if (facts.offline) return no(whyOffline(facts))
  if (options.restrictTo?.includes(facts.data.name) === false) return no('not locked')
  const lacks = (desired.data.networks ?? []).some((network) => !group.networks.includes(network))
  return lacks ? no('no network') : undefined
}

const UNUSABLE: readonly Reject[] = ['offline', 'drained', 'not vm_capable', 'no answer']

/** States of a node, besides dead, that count as offline. */
export const whyOffline = ({ data }: NodeFacts): Reject => UNUSABLE.find((one) => one === data.unusable) ?? 'offline'

class Look {
  private readonly placement: Placement
  private readonly before: number
  /** Nodes that may not die even now. */
  private readonly failing: readonly number[]

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly instance: number,
    private readonly options: AllocOptions,
    /** Whether any node may still die; undefined if nobody asks for it. */
    private readonly n1: GlobalN1 | undefined,
  ) {
    this.failing = n1?.failing() ?? []
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
    const { exclusiveStorage } = target.data
    const wrong = this.options.ignorePolicy ? Verdict.ok : judgePolicy(facts.data, policy, exclusiveStorage)
    if (wrong !== Verdict.ok)
      return { node: name, reject: 'policy', detail: forbidden(wrong, facts.data, policy, exclusiveStorage) }
    const soft = this.options.ignoreSoftErrors ? SOFT : STRICT
    this.placement.copy(node, 0)
    const verdict = this.placement.addPrimary(0, node, instance, 0, soft)
    if (verdict !== Verdict.ok)
      return { node: name, reject: failMode(verdict), ...shortage(model, instance, node, verdict) }
    const primary = this.differ(node)
    if (nodesNeeded(facts.data.template) === 1) {
      if (this.n1?.holdsWith(instance, node, NO_NODE) === false) return this.noReserve(node)
      return { node: name, scoreChange: this.change(primary, NO_DIFFERENCE) }
    }
    return this.pair(
      node,
      primary,
      partners.filter((other) => this.isPartner(node, other)),
    )
  }

  private pair(node: number, primary: Float64Array, partners: readonly number[]): Candidate {
    const { model, instance } = this
    const nameOf = (at: number) => model.data.nodes[at]?.name ?? ''
    const fitting: { secondary: number; change: number }[] = []
    const unfit: Candidate[] = []
    for (const secondary of partners) {
      this.placement.copy(secondary, 0)
      const verdict = this.placement.addSecondary(0, secondary, instance, node, STRICT)
      if (verdict === Verdict.ok) fitting.push({ secondary, change: this.change(primary, this.differ(secondary)) })
      else unfit.push({ node: nameOf(secondary), reject: failMode(verdict) })
    }
    fitting.sort((one, other) => one.change - other.change)
    const best = fitting.find(({ secondary }) => this.n1?.holdsWith(instance, node, secondary) !== false)
    if (best !== undefined) {
      return { node: nameOf(node), secondary: nameOf(best.secondary), scoreChange: best.change }
    }
    if (fitting.length > 0) return this.noReserve(node)
    const why = unfit.length === 0 ? 'its group has no other usable node' : `of the others ${tally(unfit).join(', ')}`
    return { node: nameOf(node), reject: 'no secondary', detail: `(${why})` }
  }

  private noReserve(node: number): Candidate {
    const { restrictTo } = this.options
    const failing = this.failing.flatMap((at) => this.model.data.nodes[at] ?? [])
    // The caller need not learn about other nodes.
    const [first, ...others] = failing.filter(({ name }) => restrictTo?.includes(name) ?? true)
    const more = others.length > 0 ? ` or ${others.length} more` : ''
    const group = this.model.data.groups[first?.group ?? -1]?.name ?? ''
    const victim = first === undefined ? '' : `, if ${first.name} of group ${group}${more} dies`
    const also = failing.length === 0 ? {} : { detail: `(also without it${victim})` }
    return { node: this.model.data.nodes[node]?.name ?? '', reject: 'FailN1', ...also }
  }

  private isPartner(node: number, other: number): boolean {
    const { nodes, data } = this.model
    if (other === node || nodes[other]?.offline !== false) return false
    const restricted = this.options.restrictTo?.includes(data.nodes[other]?.name ?? '') === false
    return data.nodes[other]?.group === data.nodes[node]?.group && !restricted
  }

  private differ(node: number): Float64Array {
    const difference = newDifference()
    this.score.difference(node, this.placement.rows, 0, difference)
    return difference
  }

  private change(one: Float64Array, other: Float64Array): number {
    return this.score.after(Infinity, 0, one, other, NO_DIFFERENCE) - this.before
  }
}

function forbidden(wrong: Verdict, data: InstanceData, policy: Policy, exclusiveStorage: boolean): string {
  const silent = wrong === Verdict.spindles && exclusiveStorage && data.spindles === undefined
  const size = silent
    ? 'because its disks do not say how many spindles they take'
    : tooMuch(wrong, data, policy, exclusiveStorage)
  if (policy.templates.includes(data.template)) return size ?? 'for another reason'
  const template = `by its disk template (${data.template})`
  // Ganeti reports an unwanted template as unwanted disks.
  return wrong === Verdict.disk || size === undefined ? template : `${template} and ${size}`
}

/** Values that a group's policy forbids, with the allowed ones. */
function tooMuch(wrong: Verdict, data: InstanceData, policy: Policy, exclusiveStorage: boolean): string | undefined {
  const bounds = policy.minMax[0]
  const reported = SIZES[wrong]
  if (bounds === undefined || reported === undefined) return undefined
  const { what, of, key, unit = '' } = reported
  const [min, max] = [bounds.min[key], bounds.max[key]]
  const value = of(data, exclusiveStorage).find((one) => one < min || one > max)
  return `${what} (${value === undefined ? '' : `${grouped(value)}${unit}, `}allowed: ${grouped(min)} to ${grouped(max)}${unit})`
}

interface Size {
  readonly what: string
  readonly of: (data: InstanceData, exclusiveStorage: boolean) => readonly number[]
  readonly key: keyof Spec
  readonly unit?: string
}

const SIZES: { readonly [V in Verdict]?: Size } = {
  [Verdict.memory]: { what: 'by its memory', of: ({ memory }) => [memory], key: 'memory', unit: ' MiB' },
  [Verdict.disk]: {
    ...{ what: 'by the size of its disks', key: 'disk', unit: ' MiB' },
    of: (data) => disksOf(data).map(({ size }) => size),
  },
  [Verdict.cpu]: { what: 'by its CPUs', of: ({ vcpus }) => [vcpus], key: 'cpus' },
  [Verdict.diskCount]: { what: 'by the number of its disks', of: (data) => [disksOf(data).length], key: 'disks' },
  [Verdict.spindles]: {
    ...{ what: 'by its spindles', key: 'spindles' },
    of: ({ spindles, spindleUse }, exclusiveStorage) => (exclusiveStorage ? [spindles ?? 0] : [spindleUse]),
  },
}

/** How much the node would have of the scarce resource, as the primary. */
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
    return { free: Math.max(0, spindles), needed: model.instances[instance]?.spindleUse ?? 0, detail: SPINDLE_RATIO }
  }
  if (verdict === Verdict.spindles && data.spindles !== undefined) {
    return { free: Math.max(0, get(Col.FreeSpindlesAll)), needed: data.spindles }
  }
  if (verdict === Verdict.cpu) {
    return { free: Math.max(0, facts.vcpuRatio * facts.data.totalCpus - get(Col.VcpusAll)), needed: data.vcpus }
  }
  return {}
}
