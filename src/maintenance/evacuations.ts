// Empties nodes one instance after the other: finds the next one that can leave, with the opcodes that move it.
import type { AllocOptions } from '../allocation/model/options'
import type { ClusterData, NodeData } from '../allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../allocation/model/cluster-model'
import { evacuate } from '../allocation/evacuation/evacuate'
import type { Step } from '../allocation/model/requests'
import { DISKS_NOT_REPLACED } from '../model/constants/disks'
import { PLACES_PER_NODE_MAX } from '../model/limits/maintenance'
import type { RepairAction } from '../model/maintenance'
import { isMirroredInside } from '../model/templates'

export type Leaving =
  | { readonly instance: string; readonly nodes: readonly string[]; readonly ops: readonly Step[] }
  /** Nothing can leave now, for this reason. */
  | { readonly stuck: string }

export class Evacuations {
  private built: ClusterModel | undefined
  private readonly own: readonly { readonly primary: number[]; readonly secondary: number[] }[]

  constructor(
    private readonly data: ClusterData,
    private readonly options: AllocOptions,
  ) {
    this.own = data.nodes.map(() => ({ primary: [], secondary: [] }))
    for (const [at, { primary, secondary }] of data.instances.entries()) {
      this.own[primary]?.primary.push(at)
      this.own[secondary]?.secondary.push(at)
    }
  }

  /** Undefined if the node is empty. `mayTake`: whether a node may get the instance. */
  next(node: number, action: RepairAction, mayTake: (node: NodeData) => boolean): Leaving | undefined {
    const { primary = [], secondary = [] } = this.own[node] ?? {}
    if (primary.length === 0 && secondary.length === 0) return undefined
    const only = new Set(this.data.nodes.flatMap((one, at) => (at !== node && mayTake(one) ? [at] : [])))
    const why: string[] = []
    for (const instance of primary.slice(0, PLACES_PER_NODE_MAX)) {
      const found = this.leave(instance, node, only)
      if (typeof found !== 'string')
        return { ...found, ops: action === 'evacuate-failover' ? found.ops.map(cold) : found.ops }
      why.push(`${this.nameOf(instance)} cannot leave: ${found.trim()}`)
    }
    const others = primary.length - why.length
    if (why.length > 0)
      return { stuck: [why[0], ...(why.length + others > 1 ? [`and ${primary.length - 1} more`] : [])].join('; ') }
    const names = secondary.map((one) => this.nameOf(one))
    return { stuck: `it has the mirrors of ${names.slice(0, PLACES_PER_NODE_MAX).join(', ')}: ${DISKS_NOT_REPLACED}` }
  }

  private leave(
    instance: number,
    node: number,
    only: ReadonlySet<number>,
  ): Exclude<Leaving, { stuck: string }> | string {
    const { template, secondary } = this.data.instances[instance] ?? { template: 'plain', secondary: -1 }
    if (isMirroredInside(template) && !only.has(secondary)) return 'the node with its mirror may take nothing now'
    const { moved, failed, jobs } = evacuate(this.model, [instance], 'primary-only', {
      ...{ ...this.options, ignoreSoftErrors: true, only },
    })
    const [to, ops] = [moved[0], jobs[0]]
    if (to === undefined || ops === undefined) return failed[0]?.why ?? 'there is no place for it'
    const name = this.data.nodes[node]?.name ?? ''
    return { instance: to.instance, nodes: [...new Set([name, ...to.nodes])], ops }
  }

  /** Made on demand, since most rounds need none. */
  private get model(): ClusterModel {
    return (this.built ??= buildModel(this.data))
  }

  private nameOf(instance: number): string {
    return this.data.instances[instance]?.name ?? ''
  }
}

/** Turns a migration into a failover: the guest stops, and starts at the other node. */
function cold(op: Step): Step {
  if (op.OP_ID !== 'OP_INSTANCE_MIGRATE') return op
  const { instance_name, target_node } = op
  return {
    ...{ OP_ID: 'OP_INSTANCE_FAILOVER', instance_name, shutdown_timeout: 120, ignore_consistency: false },
    ...(target_node !== undefined && { target_node }),
    ...{ ignore_ipolicy: false, cleanup: false },
  }
}
