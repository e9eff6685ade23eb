// Empties nodes one instance after the other: finds the next one that can leave, with the opcodes that move it.
import type { AllocOptions } from '../allocation/model/options'
import type { ClusterData, NodeData } from '../allocation/model/cluster-data'
import { type ClusterModel, buildModel } from '../allocation/model/cluster-model'
import { evacuate } from '../allocation/evacuation/evacuate'
import type { Step } from '../allocation/model/requests'
import { PLACES_PER_NODE_MAX } from '../model/limits/maintenance'
import type { RepairAction } from '../model/maintenance'
import { isMirroredInside } from '../model/templates'

export type Leaving =
  | {
      readonly instance: string
      readonly nodes: readonly string[]
      readonly ops: readonly Step[]
      /** Whether it copies disks. */
      readonly copies: boolean
    }
  /** Nothing can leave now, for this reason. */
  | { readonly stuck: string }

export interface Rules {
  readonly action: RepairAction
  /** Whether a node may get the instance or its mirror now. */
  mayTake(node: NodeData): boolean
  /** Whether a node may get nothing before somebody has dealt with it. */
  isLost(node: NodeData): boolean
  /** Why disks are not copied now; undefined if they may be. */
  readonly whyNoCopies: string | undefined
}

type Found = Exclude<Leaving, { stuck: string }>

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

  /** Undefined if the node is empty. First instances leave, then the mirrors of others. */
  next(node: number, rules: Rules): Leaving | undefined {
    const { primary = [], secondary = [] } = this.own[node] ?? {}
    if (primary.length === 0 && secondary.length === 0) return undefined
    const only = new Set(this.data.nodes.flatMap((one, at) => (at !== node && rules.mayTake(one) ? [at] : [])))
    const why: string[] = []
    const look = (instances: readonly number[], leave: (instance: number) => Found | string): Found | undefined => {
      const refused: string[] = []
      for (const instance of instances.slice(0, PLACES_PER_NODE_MAX)) {
        const found = leave(instance)
        if (typeof found !== 'string') return found
        refused.push(found.trim())
      }
      if (refused.length > 0)
        why.push([refused[0], ...(instances.length > 1 ? [`and ${instances.length - 1} more`] : [])].join('; '))
      return undefined
    }
    const found =
      look(primary, (instance) => this.leave(instance, node, only, rules)) ??
      look(secondary, (instance) => {
        const copied = this.copy(instance, node, only, rules)
        return typeof copied === 'string' ? `it has the mirror of ${this.nameOf(instance)}: ${copied}` : copied
      })
    return found ?? { stuck: why.join('; ') }
  }

  private leave(instance: number, node: number, only: ReadonlySet<number>, rules: Rules): Found | string {
    const { template, secondary } = this.data.instances[instance] ?? { template: 'plain', secondary: -1 }
    const partner = this.data.nodes[secondary]
    const cannot = (why: string): string => `${this.nameOf(instance)} cannot leave: ${why.trim()}`
    if (isMirroredInside(template) && !only.has(secondary)) {
      const waits = 'the node with its mirror may take nothing now'
      if (partner === undefined || !rules.isLost(partner)) return cannot(waits)
      // Its mirror goes to another node first; then it can follow.
      const copied = this.copy(instance, node, only, rules)
      return typeof copied === 'string' ? cannot(`${waits}, and ${copied}`) : copied
    }
    const found = this.move(instance, node, 'primary-only', only)
    if (typeof found === 'string') return cannot(found)
    return { ...found, copies: false, ops: rules.action === 'evacuate-failover' ? found.ops.map(cold) : found.ops }
  }

  /** Gives the mirror of an instance another node. */
  private copy(instance: number, node: number, only: ReadonlySet<number>, rules: Rules): Found | string {
    if (rules.whyNoCopies !== undefined) return rules.whyNoCopies
    const found = this.move(instance, node, 'secondary-only', only)
    if (typeof found === 'string') return found
    const { primary = -1, secondary = -1 } = this.data.instances[instance] ?? {}
    const now = [primary, secondary].flatMap((at) => this.data.nodes[at]?.name ?? [])
    return { ...found, copies: true, nodes: [...new Set([...now, ...found.nodes])] }
  }

  private move(
    instance: number,
    node: number,
    mode: 'primary-only' | 'secondary-only',
    only: ReadonlySet<number>,
  ): Omit<Found, 'copies'> | string {
    const { moved, failed, jobs } = evacuate(this.model, [instance], mode, {
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
