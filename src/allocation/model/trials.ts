// Tries moves on copies of the affected nodes' rows: the resulting rows, or the first check that forbids the move.
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col, sharedLocations } from './cluster-model'
import { FAILED_OVER, type Leniency, Placement, SOFT, STRICT, Verdict } from './placement'

/** Indexes of the rows of a trial: the instance's nodes without it, and the results. */
export const ROW = {
  primary: 0,
  secondary: Col.Width,
  other: 2 * Col.Width,
  target: 3 * Col.Width,
}

export class Trials {
  readonly placement: Placement
  instance = -1
  primary = NO_NODE
  secondary = NO_NODE

  constructor(
    private readonly model: ClusterModel,
    /** Ignores soft limits. */
    readonly lenient: boolean,
  ) {
    this.placement = new Placement(model, new Float64Array(4 * Col.Width))
  }

  /** Takes the instance off its nodes. */
  begin(instance: number): void {
    const { model, placement } = this
    this.instance = instance
    const primary = (this.primary = model.primary[instance] ?? NO_NODE)
    const secondary = (this.secondary = model.secondary[instance] ?? NO_NODE)
    placement.copy(primary, ROW.primary)
    placement.removePrimary(ROW.primary, primary, instance, this.shared(primary, secondary))
    if (secondary === NO_NODE) return
    placement.copy(secondary, ROW.secondary)
    placement.removeSecondary(ROW.secondary, secondary, instance, primary)
  }

  /** Writes the new primary to `target`, the new secondary to `other`. */
  failover(): Verdict {
    const { placement, instance, primary, secondary } = this
    if (!this.mayMigrate(primary, secondary)) return Verdict.migration
    const soft = this.leniencyFrom(primary)
    placement.copyRow(ROW.secondary, ROW.target)
    const goes = placement.addPrimary(ROW.target, secondary, instance, this.shared(primary, secondary), soft)
    if (goes !== Verdict.ok) return goes
    placement.copyRow(ROW.primary, ROW.other)
    const offline = this.model.nodes[primary]?.offline === true
    return placement.addSecondary(ROW.other, primary, instance, secondary, offline ? FAILED_OVER : soft)
  }

  failoverToAny(to: number): Verdict {
    const { placement, instance, primary, secondary } = this
    if (!this.mayMigrate(primary, to)) return Verdict.migration
    placement.copy(to, ROW.target)
    return placement.addPrimary(ROW.target, to, instance, this.shared(primary, secondary), this.leniencyFrom(primary))
  }

  /** Writes the new secondary to `target`, the primary to `other`. */
  replaceSecondary(to: number): Verdict {
    const { placement, instance, primary, secondary } = this
    placement.copy(to, ROW.target)
    const goes = placement.addSecondary(ROW.target, to, instance, primary, this.leniencyFrom(secondary))
    if (goes !== Verdict.ok) return goes
    placement.copyRow(ROW.primary, ROW.other)
    return placement.addPrimary(ROW.other, primary, instance, this.shared(primary, to), SOFT)
  }

  /** The target becomes primary; the old primary becomes secondary, in `other`. */
  replaceAndFailover(to: number): Verdict {
    const { placement, instance, primary, secondary } = this
    if (!this.mayMigrate(primary, to)) return Verdict.migration
    placement.copy(to, ROW.target)
    const soft = this.lenient ? SOFT : STRICT
    const goes = placement.addPrimary(ROW.target, to, instance, this.shared(to, primary), soft)
    if (goes !== Verdict.ok) return goes
    placement.copyRow(ROW.primary, ROW.other)
    return placement.addSecondary(ROW.other, primary, instance, to, this.leniencyFrom(secondary))
  }

  /** The target becomes primary; the secondary stays, in `other`. */
  replacePrimary(to: number): Verdict {
    const { placement, instance, primary, secondary } = this
    if (!this.mayMigrate(primary, secondary) || !this.mayMigrate(secondary, to)) return Verdict.migration
    const soft = this.leniencyFrom(primary)
    const location = this.shared(to, secondary)
    // The secondary must be able to run it meanwhile.
    placement.copyRow(ROW.secondary, ROW.other)
    const between = placement.addPrimary(ROW.other, secondary, instance, location, soft)
    if (between !== Verdict.ok) return between
    placement.copy(to, ROW.target)
    const goes = placement.addPrimary(ROW.target, to, instance, location, soft)
    if (goes !== Verdict.ok) return goes
    placement.copyRow(ROW.secondary, ROW.other)
    return placement.addSecondary(ROW.other, secondary, instance, to, soft)
  }

  /** The secondary becomes primary, in `other`; the target becomes its secondary. */
  failoverAndReplace(to: number): Verdict {
    const { placement, instance, primary, secondary } = this
    if (!this.mayMigrate(primary, secondary)) return Verdict.migration
    const soft = this.leniencyFrom(primary)
    placement.copyRow(ROW.secondary, ROW.other)
    const goes = placement.addPrimary(ROW.other, secondary, instance, this.shared(secondary, to), soft)
    if (goes !== Verdict.ok) return goes
    placement.copy(to, ROW.target)
    return placement.addSecondary(ROW.target, to, instance, secondary, soft)
  }

  mayMigrate(from: number, to: number): boolean {
    const needed = this.model.nodes[from]?.migration
    if (needed === undefined || needed.size === 0) return true
    const receives = this.model.nodes[to]?.receives
    for (const tag of needed) if (!receives?.has(tag)) return false
    return true
  }

  /** The number of failure domains that both nodes share. */
  shared(one: number, other: number): number {
    return sharedLocations(this.model.nodes[one], this.model.nodes[other])
  }

  /** Leaving an offline node is more important than soft limits. */
  leniencyFrom(node: number): Leniency {
    return this.lenient || this.model.nodes[node]?.offline === true ? SOFT : STRICT
  }
}
