// Moves instances one after the other, and keeps each node's lists in Ganeti's order, which decides who finds room
// first.
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { Changes } from '../model/changes'
import { SOFT, Verdict } from '../model/placement'
import { ROW, Trials } from '../model/trials'
import { isMirroredInside } from '../../model/templates'

type Lists = (readonly number[])[]

interface Mark {
  readonly changes: number
  readonly primaries: Lists
  readonly secondaries: Lists
}

/** Instances that leave a node before a reboot may exceed soft limits. */
export class Relocations {
  /** By node, newest first. */
  primaries: Lists
  secondaries: Lists
  private readonly trials: Trials
  private readonly changes: Changes

  constructor(private readonly model: ClusterModel) {
    this.trials = new Trials(model, true)
    this.changes = new Changes(model, true)
    const real = model.instances.flatMap(({ data }, at) => (data.forthcoming ? [] : [at])).reverse()
    const listed = (column: Int32Array): Lists => {
      const lists: number[][] = model.nodes.map(() => [])
      for (const instance of real) lists[column[instance] ?? NO_NODE]?.push(instance)
      return lists
    }
    this.primaries = listed(model.primary)
    this.secondaries = listed(model.secondary)
  }

  isMirrored(instance: number): boolean {
    return isMirroredInside(this.model.instances[instance]?.data.template)
  }

  /** Moves the instance if it fits; returns whether it did. */
  move(instance: number, to: number): boolean {
    const { placement, secondary } = this.begun(instance)
    placement.copy(to, ROW.target)
    if (placement.addPrimary(ROW.target, to, instance, 0, SOFT) !== Verdict.ok) return false
    this.put(instance, to, secondary)
    return true
  }

  migrate(instance: number): boolean {
    const { placement, primary, secondary } = this.begun(instance)
    if (placement.addPrimary(ROW.secondary, secondary, instance, 0, SOFT) !== Verdict.ok) return false
    if (placement.addSecondary(ROW.primary, primary, instance, secondary, SOFT) !== Verdict.ok) return false
    this.put(instance, secondary, primary)
    return true
  }

  replaceSecondary(instance: number, to: number): boolean {
    const { placement, primary } = this.begun(instance)
    if (to === primary) return false
    placement.copy(to, ROW.target)
    if (placement.addSecondary(ROW.target, to, instance, primary, SOFT) !== Verdict.ok) return false
    this.put(instance, primary, to)
    return true
  }

  mark(): Mark {
    return { changes: this.changes.mark(), primaries: [...this.primaries], secondaries: [...this.secondaries] }
  }

  undo(mark: Mark): void {
    this.changes.undo(mark.changes)
    this.primaries = mark.primaries
    this.secondaries = mark.secondaries
  }

  private begun(instance: number): Trials {
    this.trials.begin(instance)
    return this.trials
  }

  private put(instance: number, primary: number, secondary: number): void {
    relist(this.primaries, instance, this.model.primary[instance] ?? NO_NODE, primary)
    relist(this.secondaries, instance, this.model.secondary[instance] ?? NO_NODE, secondary)
    this.changes.place(instance, primary, secondary)
  }
}

function relist(lists: Lists, instance: number, from: number, to: number): void {
  if (from === to) return
  if (lists[from] !== undefined) lists[from] = lists[from].filter((one) => one !== instance)
  if (lists[to] !== undefined) lists[to] = [instance, ...lists[to]]
}
