// Puts an instance on a node or removes it, on a copy of the node's row: the changes, and the first check that forbids
// it.
import { type ClusterModel, Col, missedLocations } from './cluster-model'
import { isMirroredInside } from '../../model/templates'

const WIDTH: number = Col.Width

/** Why an instance may not be placed; `ok` if it may. */
export const enum Verdict {
  ok,
  memory,
  disk,
  cpu,
  n1,
  tags,
  migration,
  diskCount,
  spindles,
  internal,
}

/** Checks that are skipped when the instance comes from a worse place. */
export interface Leniency {
  readonly soft: boolean
  readonly disks: boolean
}

export const STRICT: Leniency = { soft: false, disks: false }
export const SOFT: Leniency = { soft: true, disks: false }
/** For an instance with an offline primary: its disks already count there. */
export const FAILED_OVER: Leniency = { soft: true, disks: true }

export class Placement {
  constructor(
    private readonly model: ClusterModel,
    readonly rows: Float64Array,
  ) {}

  /** Copies the node's row to `row`, which may then be changed. */
  copy(node: number, row: number): void {
    const from = node * Col.Width
    for (let k = 0; k < WIDTH; k++) this.rows[row + k] = this.model.rows[from + k] ?? 0
  }

  copyRow(from: number, row: number): void {
    for (let k = 0; k < WIDTH; k++) this.rows[row + k] = this.rows[from + k] ?? 0
  }

  removePrimary(row: number, node: number, instance: number, location: number): void {
    this.changePrimary(row, node, instance, location, -1)
  }

  addPrimary(row: number, node: number, instance: number, location: number, { soft }: Leniency): Verdict {
    const failed = this.get(row, Col.FailsN1)
    this.changePrimary(row, node, instance, location, 1)
    const facts = this.model.instances[instance]
    const target = this.model.nodes[node]
    if (facts === undefined || target === undefined) return Verdict.memory
    if (!facts.data.forthcoming) {
      if (target.usable - this.get(row, Col.InstanceMemory) <= 0) return Verdict.memory
      const verdict = facts.local ? this.checkDisk(row, node, soft, false) : Verdict.ok
      if (verdict !== Verdict.ok) return verdict
    }
    if (soft) return Verdict.ok
    if (!facts.data.forthcoming) {
      if (facts.local && this.get(row, Col.UsedSpindles) > target.highSpindles) return Verdict.disk
      if (failed === 0 && this.get(row, Col.FailsN1) === 1) return Verdict.memory
      if (target.vcpuRatio >= 0 && target.vcpuRatio < this.get(row, Col.Vcpus) / target.data.totalCpus)
        return Verdict.cpu
      const tags = this.model.tagCounts[node]
      if (facts.exclusion.some((tag) => (tags?.get(tag) ?? 0) > (this.model.primary[instance] === node ? 1 : 0))) {
        return Verdict.tags
      }
    }
    if (this.get(row, Col.FreeMemoryAll) <= 0) return Verdict.memory
    const verdict = facts.local ? this.checkDiskAll(row, node) : Verdict.ok
    if (verdict !== Verdict.ok) return verdict
    const ratio = this.get(row, Col.VcpusAll) / target.data.totalCpus
    return target.vcpuRatio >= 0 && target.vcpuRatio < ratio ? Verdict.cpu : Verdict.ok
  }

  removeSecondary(row: number, node: number, instance: number, primary: number): void {
    const facts = this.model.instances[instance]
    const peers = this.model.peers[node]
    if (facts === undefined || peers === undefined) return
    this.changeSecondary(row, node, instance, -1)
    if (facts.data.forthcoming) return
    const before = peers.get(primary) ?? 0
    if (before >= this.get(row, Col.Reserved)) {
      let most = before - facts.reserve
      for (const [peer, memory] of peers) if (peer !== primary && memory > most) most = memory
      this.rows[row + Col.Reserved] = Math.max(0, most)
    }
    this.judge(row, node)
  }

  addSecondary(row: number, node: number, instance: number, primary: number, { soft, disks }: Leniency): Verdict {
    const facts = this.model.instances[instance]
    const target = this.model.nodes[node]
    if (facts === undefined || target === undefined || !isMirroredInside(facts.data.template)) return Verdict.disk
    const failed = this.get(row, Col.FailsN1)
    this.changeSecondary(row, node, instance, 1)
    const { forthcoming } = facts.data
    if (!forthcoming) {
      const needed = (this.model.peers[node]?.get(primary) ?? 0) + facts.reserve
      if (needed > this.get(row, Col.Reserved)) this.rows[row + Col.Reserved] = needed
      this.judge(row, node)
      const verdict = facts.local ? this.checkDisk(row, node, soft, disks) : Verdict.ok
      if (verdict !== Verdict.ok) return verdict
    }
    if (soft) return Verdict.ok
    if (!forthcoming) {
      if (facts.local && this.get(row, Col.UsedSpindles) > target.highSpindles) return Verdict.disk
      if (facts.reserve >= target.usable - this.get(row, Col.InstanceMemory)) return Verdict.memory
      if (failed === 0 && this.get(row, Col.FailsN1) === 1) return Verdict.memory
    }
    const verdict = facts.local ? this.checkDiskAll(row, node) : Verdict.ok
    if (verdict !== Verdict.ok) return verdict
    return facts.reserve >= this.get(row, Col.FreeMemoryAll) ? Verdict.memory : Verdict.ok
  }

  private checkDisk(row: number, node: number, soft: boolean, disks: boolean): Verdict {
    const target = this.model.nodes[node]
    if (target === undefined) return Verdict.disk
    const free = this.get(row, Col.FreeDisk)
    if ((!disks && free <= 0) || (!soft && free < target.lowDisk)) return Verdict.disk
    return target.data.exclusiveStorage && this.get(row, Col.FreeSpindles) < 0 ? Verdict.spindles : Verdict.ok
  }

  private checkDiskAll(row: number, node: number): Verdict {
    const target = this.model.nodes[node]
    if (target === undefined) return Verdict.disk
    const free = this.get(row, Col.FreeDiskAll)
    if (free <= 0 || free < target.lowDisk) return Verdict.disk
    if (target.data.exclusiveStorage && this.get(row, Col.FreeSpindlesAll) < 0) return Verdict.spindles
    return this.get(row, Col.UsedSpindlesAll) > target.highSpindles ? Verdict.disk : Verdict.ok
  }

  private changePrimary(row: number, node: number, instance: number, location: number, by: 1 | -1): void {
    const { rows } = this
    const facts = this.model.instances[instance]
    const target = this.model.nodes[node]
    if (facts === undefined || target === undefined) return
    const { data, util } = facts
    const vcpus = facts.online ? by * data.vcpus : 0
    this.add(row, Col.FreeMemoryAll, -by * data.memory)
    this.add(row, Col.VcpusAll, vcpus)
    this.changeDisk(row, node, instance, by)
    if (facts.exclusion.length > 0) this.add(row, Col.TagClashes, by * this.clashes(node, instance))
    if (data.forthcoming) return
    if (facts.usesMemory) this.add(row, Col.InstanceMemory, by * data.memory)
    this.add(row, Col.Vcpus, vcpus)
    this.add(row, Col.LoadCpu, by * (util[0] ?? 0))
    this.add(row, Col.LoadMemory, by * (util[1] ?? 0))
    this.add(row, Col.LoadDisk, by * (util[2] ?? 0))
    this.add(row, Col.LoadNet, by * (util[3] ?? 0))
    this.add(row, Col.Primaries, by)
    this.add(row, Col.Location, by * (location + missedLocations(facts, target)))
    rows[row + Col.FailsN1] = target.usable - this.get(row, Col.InstanceMemory) <= this.get(row, Col.Reserved) ? 1 : 0
  }

  private changeSecondary(row: number, node: number, instance: number, by: 1 | -1): void {
    const facts = this.model.instances[instance]
    if (facts === undefined) return
    this.changeDisk(row, node, instance, by)
    if (facts.data.forthcoming) return
    this.add(row, Col.LoadDisk, by * (facts.util[2] ?? 0))
    this.add(row, Col.Secondaries, by)
  }

  private changeDisk(row: number, node: number, instance: number, by: 1 | -1): void {
    const facts = this.model.instances[instance]
    const exclusive = this.model.nodes[node]?.data.exclusiveStorage
    if (facts === undefined) return
    const { data, local } = facts
    const real = !data.forthcoming
    if (local) {
      this.add(row, Col.FreeDiskAll, -by * data.disk)
      if (real) this.add(row, Col.FreeDisk, -by * data.disk)
    }
    if (exclusive) {
      this.takeSpindles(row, Col.FreeSpindlesAll, data.spindles, by)
      if (real) this.takeSpindles(row, Col.FreeSpindles, data.spindles, by)
    } else {
      // Without exclusive storage free spindles are not counted.
      this.rows[row + Col.FreeSpindlesAll] = 0
      if (real) this.rows[row + Col.FreeSpindles] = 0
      this.add(row, Col.UsedSpindlesAll, by * facts.spindleUse)
      if (real) this.add(row, Col.UsedSpindles, by * facts.spindleUse)
    }
  }

  /** An instance without a number of spindles fits nowhere, and returns none. */
  private takeSpindles(row: number, col: Col, spindles: number | undefined, by: 1 | -1): void {
    if (spindles !== undefined) this.add(row, col, -by * spindles)
    else if (by === 1) this.rows[row + col] = -1
  }

  /** The number of its tags that other primaries of the node also have. */
  private clashes(node: number, instance: number): number {
    const tags = this.model.tagCounts[node]
    const own = this.model.primary[instance] === node ? 1 : 0
    return (this.model.instances[instance]?.exclusion ?? []).filter((tag) => (tags?.get(tag) ?? 0) > own).length
  }

  private judge(row: number, node: number): void {
    const free = (this.model.nodes[node]?.usable ?? 0) - this.get(row, Col.InstanceMemory)
    this.rows[row + Col.FailsN1] = free <= this.get(row, Col.Reserved) ? 1 : 0
  }

  private get(row: number, col: Col): number {
    return this.rows[row + col] ?? 0
  }

  private add(row: number, col: Col, value: number): void {
    this.rows[row + col] = (this.rows[row + col] ?? 0) + value
  }
}
