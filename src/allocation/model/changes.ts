// Permanent changes of the model: moves instances and adds new ones. All of it can be undone exactly.
import { type InstanceData, NO_NODE } from './cluster-data'
import { type ClusterModel, Col, type InstanceFacts } from './cluster-model'
import { FAILED_OVER, SOFT, Verdict } from './placement'
import { ROW, Trials } from './trials'

interface Done {
  readonly instance: number
  readonly primary: number
  readonly secondary: number
  readonly rows: readonly (readonly [node: number, row: Float64Array])[]
}

export class Changes {
  private readonly trials: Trials
  private readonly done: Done[] = []

  constructor(
    private readonly model: ClusterModel,
    lenient: boolean,
  ) {
    this.trials = new Trials(model, lenient)
  }

  /** Puts the instance on these nodes without any check. A new instance comes from nowhere. */
  place(instance: number, primary: number, secondary: number): void {
    const { model, trials } = this
    const [oldPrimary, oldSecondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
    const nodes = [...new Set([oldPrimary, oldSecondary, primary, secondary])].filter((node) => node !== NO_NODE)
    const rows = nodes.map((node) => [node, model.rows.slice(node * Col.Width, (node + 1) * Col.Width)] as const)
    this.done.push({ instance, primary: oldPrimary, secondary: oldSecondary, rows })
    const keep = (node: number, row: number) =>
      model.rows.set(trials.placement.rows.subarray(row, row + Col.Width), node * Col.Width)
    if (oldPrimary !== NO_NODE) {
      trials.begin(instance)
      keep(oldPrimary, ROW.primary)
      if (oldSecondary !== NO_NODE) keep(oldSecondary, ROW.secondary)
    }
    this.link(instance, -1)
    model.primary[instance] = NO_NODE
    model.version++
    if (primary === NO_NODE) return
    const { placement } = trials
    placement.copy(primary, ROW.target)
    placement.addPrimary(ROW.target, primary, instance, trials.shared(primary, secondary), SOFT)
    keep(primary, ROW.target)
    if (secondary !== NO_NODE) {
      placement.copy(secondary, ROW.target)
      placement.addSecondary(ROW.target, secondary, instance, primary, FAILED_OVER)
      keep(secondary, ROW.target)
    }
    model.primary[instance] = primary
    model.secondary[instance] = secondary
    this.link(instance, 1)
  }

  /** Takes the instance off its nodes. */
  lift(instance: number): void {
    this.place(instance, NO_NODE, NO_NODE)
    this.model.secondary[instance] = NO_NODE
  }

  failover(instance: number): Verdict {
    const { trials } = this
    trials.begin(instance)
    return this.finish(trials.failover(), trials.secondary, trials.primary)
  }

  failoverToAny(instance: number, to: number): Verdict {
    const { trials } = this
    trials.begin(instance)
    return this.finish(trials.failoverToAny(to), to, trials.secondary)
  }

  replaceSecondary(instance: number, to: number): Verdict {
    const { trials } = this
    trials.begin(instance)
    return this.finish(trials.replaceSecondary(to), trials.primary, to)
  }

  /** A new instance, on no node yet. */
  add(facts: InstanceFacts): number {
    const { model } = this
    const instance = model.instances.length
    model.instances.push(facts)
    if (model.primary.length <= instance) {
      model.primary = grown(model.primary)
      model.secondary = grown(model.secondary)
    }
    model.primary[instance] = model.secondary[instance] = NO_NODE
    return instance
  }

  /** Removes the newest instance. Its placement must have been undone. */
  drop(): void {
    this.model.instances.pop()
  }

  mark(): number {
    return this.done.length
  }

  /** Restores the state at `mark`. */
  undo(mark: number): void {
    const { model } = this
    while (this.done.length > mark) {
      const one = this.done.pop()
      if (one === undefined) return
      this.link(one.instance, -1)
      model.primary[one.instance] = one.primary
      model.secondary[one.instance] = one.secondary
      this.link(one.instance, 1)
      for (const [node, row] of one.rows) model.rows.set(row, node * Col.Width)
      model.version++
    }
  }

  private finish(verdict: Verdict, primary: number, secondary: number): Verdict {
    if (verdict === Verdict.ok) this.place(this.trials.instance, primary, secondary)
    return verdict
  }

  /** Updates the figures that its nodes keep by name. */
  private link(instance: number, by: 1 | -1): void {
    const { model } = this
    const facts = model.instances[instance]
    const [primary, secondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
    if (facts === undefined || primary === NO_NODE) return
    const counts = model.tagCounts[primary]
    for (const tag of facts.exclusion) {
      const count = (counts?.get(tag) ?? 0) + by
      if (count > 0) counts?.set(tag, count)
      else counts?.delete(tag)
    }
    if (secondary === NO_NODE || facts.data.forthcoming) return
    const peers = model.peers[secondary]
    const memory = (peers?.get(primary) ?? 0) + by * facts.reserve
    if (memory > 0) {
      peers?.set(primary, memory)
      model.served[primary]?.add(secondary)
    } else {
      peers?.delete(primary)
      model.served[primary]?.delete(secondary)
    }
  }
}

/** All instances as records, where they are now. */
export const instancesNow = (model: ClusterModel): InstanceData[] =>
  model.instances.map(({ data }, at) => ({
    ...data,
    primary: model.primary[at] ?? NO_NODE,
    secondary: model.secondary[at] ?? NO_NODE,
  }))

function grown(values: Int32Array): Int32Array {
  const more = new Int32Array(2 * values.length + 64)
  more.set(values)
  return more
}
