// Counts how many instances of a size fit: places one after the other, each where it leaves the cluster most even,
// until none fits. Of nodes that are alike to the last bit, only one is tried.
import type { AllocOptions } from '../model/options'
import { Allocator } from './allocate'
import { Alike } from '../model/alike'
import { Changes } from '../model/changes'
import { type InstanceData, NO_NODE, type Policy, nodesNeeded } from '../model/cluster-data'
import {
  type ClusterModel,
  Col,
  type InstanceFacts,
  freeMemory,
  instanceFacts,
  sharedLocations,
} from '../model/cluster-model'
import { GlobalN1 } from '../model/global-n1'
import { type Leniency, Placement, SOFT, STRICT, Verdict } from '../model/placement'
import { judgePolicy } from '../model/policy'
import { NO_DIFFERENCE, Score, newDifference } from '../model/score'
import { type Placed, SAME, Ties } from '../model/ties'
import { isMirroredInside } from '../../model/templates'

export interface Filled {
  /** Instances that were added, in order. */
  readonly added: readonly number[]
  /** By verdict: the places where the next one does not fit. */
  readonly failures: readonly number[]
  /** Nothing was tried at all. */
  readonly refused?: true
}

export interface Looked {
  readonly fits: boolean
  readonly failures: readonly number[]
}

interface Half {
  readonly verdict: Verdict
  readonly difference: Float64Array
}

export class Filling {
  readonly changes: Changes
  private readonly score: Score
  private readonly n1: GlobalN1
  private readonly placement: Placement
  private readonly soft: Leniency
  private readonly alike: Alike
  /** The same grouping, also in small clusters. */
  private readonly twins: Alike
  private readonly ties: Ties
  /** Nodes that have changed since the score was computed. */
  private readonly touched = new Set<number>()
  /** Results by size, while nothing changes. */
  private readonly looked = new Map<string, Looked>()
  private lookedAt = -1

  /** `nodes`: where instances may go. `all`: the nodes whose evenness counts. */
  constructor(
    private readonly model: ClusterModel,
    private readonly nodes: readonly number[],
    private readonly all: readonly number[],
    private readonly options: AllocOptions,
  ) {
    this.changes = new Changes(model, options.ignoreSoftErrors)
    this.score = new Score(model, all)
    this.n1 = new GlobalN1(model, all, options)
    this.placement = new Placement(model, new Float64Array(Col.Width))
    this.soft = options.ignoreSoftErrors ? SOFT : STRICT
    this.alike = new Alike(model, nodes)
    this.twins = this.alike.grouped ? this.alike : new Alike(model, nodes, 1)
    this.ties = new Ties(model, this.score, this.soft, this.twins)
  }

  /** Places as many as fit, at most `limit`. The model keeps them. */
  fill(spec: InstanceData, limit: number | undefined): Filled {
    const { fits, failures } = this.count(spec)
    if (!fits) return { added: [], failures }
    return this.options.capacity ? this.inBigSteps(spec, limit, true) : this.oneByOne(spec, limit)
  }

  /** All policies that may apply. */
  get policies(): readonly Policy[] {
    const { groups, policy } = this.model.data
    return [policy, ...groups.flatMap((group) => group.policy ?? [])]
  }

  /** Whether one fits, without global N+1, and why other places fail. */
  count(spec: InstanceData): Looked {
    const instance = this.add(spec)
    const [fits = 0, ...failures] = this.verdicts(instance)
    this.changes.drop()
    return { fits: fits > 0, failures: [0, ...failures] }
  }

  /** False if global N+1 certainly forbids this one and all larger ones everywhere. */
  mayHold(spec: InstanceData): boolean {
    if (!this.options.capacity) return true
    const instance = this.add(spec)
    const facts = this.model.instances[instance]
    const may =
      facts !== undefined &&
      this.alike.kinds().some((members) => {
        const { verdict } = this.asPrimary(facts, instance, members.at(-1) ?? NO_NODE)
        return verdict === Verdict.ok && members.some((node) => this.n1.mayHoldWith(facts, node))
      })
    this.changes.drop()
    return may
  }

  /** Whether one fits, and why some places fail. */
  look(spec: InstanceData): Looked {
    if (this.lookedAt !== this.model.version) this.looked.clear()
    this.lookedAt = this.model.version
    const key = JSON.stringify([spec.memory, spec.vcpus, spec.disks])
    const known = this.looked.get(key) ?? this.lookAt(spec)
    this.lookedAt = this.model.version
    this.looked.set(key, known)
    return known
  }

  private lookAt(spec: InstanceData): Looked {
    const instance = this.add(spec)
    try {
      const best = this.best(instance)
      if (best === undefined) return { fits: false, failures: this.failures(instance) }
      if (!this.options.capacity || this.n1.holdsWith(instance, best.primary, best.secondary)) {
        return { fits: true, failures: [] }
      }
      const allocator = new Allocator(this.model, this.all, this.options, this.changes, this.n1)
      const tried = allocator.try(instance, nodesNeeded(spec.template), this.nodes)
      return { fits: tried.solution !== undefined, failures: tried.failures }
    } finally {
      this.changes.drop()
    }
  }

  /** Global N+1 is slow. It is checked after many instances; if it fails then, after fewer, and finally after each. */
  private inBigSteps(spec: InstanceData, limit: number | undefined, huge: boolean): Filled {
    const all: number[] = []
    for (let left = limit; ;) {
      const step = huge ? this.guess(spec) : 10
      const count = this.model.instances.length
      const mark = this.changes.mark()
      const known = this.n1.knowledge()
      const { added, failures } = this.oneByOne(spec, left === undefined ? step : Math.min(step, left))
      if (!this.n1.holds()) {
        this.changes.undo(mark)
        this.touch(this.all)
        while (this.model.instances.length > count) this.changes.drop()
        this.n1.restore(known)
        const rest = huge ? this.inBigSteps(spec, left, false) : this.carefully(spec, left)
        return { added: [...all, ...rest.added], failures: rest.failures }
      }
      all.push(...added)
      if (left !== undefined) left = Math.max(0, left - step)
      if (left === 0 || added.length === 0) return { added: all, failures }
    }
  }

  private guess(spec: InstanceData): number {
    const { model } = this
    const available = model.nodes.reduce((sum, _, node) => {
      return sum + Math.max(0, freeMemory(model, node) - (model.rows[node * Col.Width + Col.Reserved] ?? 0))
    }, 0)
    return Math.max(20, Math.floor(available / spec.memory) - model.nodes.length)
  }

  /** Their nodes' own N+1 already covers mirrored instances. */
  private carefully(spec: InstanceData, limit: number | undefined): Filled {
    if (isMirroredInside(spec.template)) return this.oneByOne(spec, limit)
    const allocator = new Allocator(this.model, this.all, this.options, this.changes, this.n1)
    const added: number[] = []
    for (;;) {
      const instance = this.add(spec)
      const { solution, failures } = allocator.try(instance, nodesNeeded(spec.template), this.nodes)
      if (solution === undefined || added.length === limit) {
        this.changes.drop()
        return { added, failures }
      }
      this.place(instance, solution)
      added.push(instance)
    }
  }

  private oneByOne(spec: InstanceData, limit: number | undefined): Filled {
    const added: number[] = []
    for (;;) {
      const instance = this.add(spec)
      const best = this.best(instance)
      if (best === undefined || added.length === limit) {
        const failures = this.failures(instance)
        this.changes.drop()
        return { added, failures }
      }
      this.place(instance, best)
      added.push(instance)
    }
  }

  private add(spec: InstanceData): number {
    const { model } = this
    const name = `new-${model.instances.length - model.data.instances.length}`
    const facts = instanceFacts({ ...spec, name }, model.data, model.settings, name)
    return this.changes.add(facts)
  }

  private place(instance: number, { primary, secondary }: Pick<Placed, 'primary' | 'secondary'>): void {
    this.changes.place(instance, primary, secondary)
    this.touch([primary, secondary])
  }

  private touch(nodes: readonly number[]): void {
    for (const node of nodes) this.touched.add(node)
    this.alike.touch(nodes)
    this.twins.touch(nodes)
  }

  /** The best place, without global N+1; among equals the last one. */
  private best(instance: number): Placed | undefined {
    if (this.touched.size > 0) this.score.refresh([...this.touched])
    this.touched.clear()
    const { model } = this
    const facts = model.instances[instance]
    if (facts === undefined) return undefined
    const kinds = this.alike.kinds()
    const mirrored = isMirroredInside(facts.data.template)
    const primaries = kinds.map((members) => this.asPrimary(facts, instance, members.at(-1) ?? NO_NODE))
    let [found, bound]: [Placed[], number] = [[], Infinity]
    const offer = (primary: number, secondary: number, one: Half, other: Float64Array) => {
      const shared = secondary === NO_NODE ? 0 : sharedLocations(model.nodes[primary], model.nodes[secondary])
      const extra = shared + this.score.pairsAfter(instance, NO_NODE, primary)
      const score = this.score.after(bound + SAME, extra, one.difference, other, NO_DIFFERENCE)
      if (score === Infinity) return
      if (score < bound - SAME) found = []
      found.push({ primary, secondary, score })
      bound = Math.min(bound, score)
    }
    if (!mirrored) {
      kinds.forEach((members, at) => {
        const half = primaries[at]
        if (half?.verdict === Verdict.ok) offer(members.at(-1) ?? NO_NODE, NO_NODE, half, NO_DIFFERENCE)
      })
      return this.first(instance, found)
    }
    const seconds = kinds.flatMap((members) => {
      const half = this.asSecondary(instance, members.at(-1) ?? NO_NODE, NO_NODE)
      return half.verdict === Verdict.ok ? [{ members, half, group: this.groupOf(members[0]) }] : []
    })
    kinds.forEach((members, at) => {
      const half = primaries[at]
      if (half?.verdict !== Verdict.ok) return
      const group = this.groupOf(members[0])
      for (const second of seconds) {
        if (second.group !== group) continue
        const pair = this.strangers(members, second.members)
        if (pair !== undefined) offer(pair.primary, pair.secondary, half, second.half.difference)
      }
    })
    // Pairs that already share instances are worse, unless there are no others.
    if (!this.alike.grouped || found.length === 0) {
      const okay = primaries.map(({ verdict }) => verdict === Verdict.ok)
      this.eachKnownPair(okay, (primary, secondary) => {
        const half = primaries[this.alike.kindOf(primary)]
        const second = this.asSecondary(instance, secondary, primary)
        if (half !== undefined && second.verdict === Verdict.ok) offer(primary, secondary, half, second.difference)
      })
    }
    return this.first(instance, found)
  }

  /** Among many alike nodes, rounding would prefer some. So this takes the last one. */
  private first(instance: number, places: readonly Placed[]): Placed | undefined {
    const single = places[0]?.secondary === NO_NODE
    if (single && this.alike.grouped) return places.at(-1)
    return this.ties.inOrder(instance, places).next().value
  }

  private failures(instance: number): number[] {
    return Object.assign(this.verdicts(instance), { [Verdict.ok]: 0 })
  }

  /** The number of places for each verdict. */
  private verdicts(instance: number): number[] {
    const { model } = this
    const facts = model.instances[instance]
    const failures: number[] = []
    const count = (verdict: Verdict, by: number) => {
      failures[verdict] = (failures[verdict] ?? 0) + by
    }
    if (facts === undefined) return failures
    const kinds = this.alike.kinds()
    const primaries = kinds.map((members) => this.asPrimary(facts, instance, members.at(-1) ?? NO_NODE).verdict)
    if (!isMirroredInside(facts.data.template)) {
      kinds.forEach((members, at) => count(primaries[at] ?? Verdict.internal, members.length))
      return failures
    }
    const seconds = kinds.map((members) => this.asSecondary(instance, members.at(-1) ?? NO_NODE, NO_NODE).verdict)
    /** By group, the number of nodes for each verdict. */
    const inGroup = new Map<number, Map<Verdict, number>>()
    kinds.forEach((members, at) => {
      const [group, verdict] = [this.groupOf(members[0]), seconds[at] ?? Verdict.internal]
      const counts = inGroup.get(group) ?? new Map<Verdict, number>()
      inGroup.set(group, counts.set(verdict, (counts.get(verdict) ?? 0) + members.length))
    })
    kinds.forEach((members, at) => {
      const verdict = primaries[at] ?? Verdict.internal
      inGroup.get(this.groupOf(members[0]))?.forEach((nodes, second) => {
        const others = nodes - (seconds[at] === second ? 1 : 0)
        count(verdict === Verdict.ok ? second : verdict, members.length * others)
      })
    })
    const okay = primaries.map((verdict) => verdict === Verdict.ok)
    this.eachKnownPair(okay, (primary, secondary) => {
      count(seconds[this.alike.kindOf(secondary)] ?? Verdict.internal, -1)
      count(this.asSecondary(instance, secondary, primary).verdict, 1)
    })
    return failures
  }

  /** Only kinds that are suitable as primaries. */
  private eachKnownPair(okay: readonly boolean[], visit: (primary: number, secondary: number) => void): void {
    for (const primary of this.nodes) {
      if (okay[this.alike.kindOf(primary)] !== true) continue
      for (const secondary of this.model.served[primary] ?? []) {
        if (this.alike.has(secondary) && this.groupOf(primary) === this.groupOf(secondary)) visit(primary, secondary)
      }
    }
  }

  /** The last pair of these two kinds without a common instance whose primary is the first. */
  private strangers(
    members: readonly number[],
    others: readonly number[],
  ): Pick<Placed, 'primary' | 'secondary'> | undefined {
    for (let i = members.length - 1; i >= 0; i--) {
      const primary = members[i] ?? NO_NODE
      const served = this.model.served[primary]
      for (let j = others.length - 1; j >= 0; j--) {
        const secondary = others[j] ?? NO_NODE
        if (secondary !== primary && served?.has(secondary) !== true) return { primary, secondary }
      }
    }
    return undefined
  }

  private groupOf(node = NO_NODE): number {
    return this.model.data.nodes[node]?.group ?? -1
  }

  private asPrimary(facts: InstanceFacts, instance: number, node: number): Half {
    const { model } = this
    const target = model.nodes[node]
    const policy = model.data.groups[target?.data.group ?? -1]?.policy ?? model.data.policy
    const fit = judgePolicy(facts.data, policy, target?.data.exclusiveStorage === true)
    if (fit !== Verdict.ok) return { verdict: fit, difference: NO_DIFFERENCE }
    this.placement.copy(node, 0)
    return this.half(node, this.placement.addPrimary(0, node, instance, 0, this.soft))
  }

  private asSecondary(instance: number, node: number, primary: number): Half {
    this.placement.copy(node, 0)
    return this.half(node, this.placement.addSecondary(0, node, instance, primary, STRICT))
  }

  private half(node: number, verdict: Verdict): Half {
    if (verdict !== Verdict.ok) return { verdict, difference: NO_DIFFERENCE }
    const difference = newDifference()
    this.score.difference(node, this.placement.rows, 0, difference)
    return { verdict, difference }
  }
}
