// Groups of parameters. The cluster has them complete; lower levels have overrides for any key.
import type { DiskTemplate } from './templates'

export interface BeParams {
  readonly minmem: number
  readonly maxmem: number
  readonly vcpus: number
  readonly auto_balance: boolean
  readonly always_failover: boolean
  readonly spindle_use: number
}

export type NicMode = 'bridged' | 'routed' | 'openvswitch' | 'pool' | 'ext'

export interface NicParams {
  readonly mode: NicMode
  readonly link: string
  readonly vlan: string
}

export interface NdParams {
  readonly oob_program: string
  readonly spindle_count: number
  readonly exclusive_storage: boolean
  readonly ovs: boolean
  readonly ovs_name: string
  readonly ovs_link: string
  readonly ssh_port: number
  readonly cpu_speed: number
}

export interface ISpec {
  readonly 'memory-size': number
  readonly 'disk-size': number
  readonly 'disk-count': number
  readonly 'cpu-count': number
  readonly 'nic-count': number
  readonly 'spindle-use': number
}

interface MinMaxISpec {
  readonly min: ISpec
  readonly max: ISpec
}

export interface IPolicy {
  readonly minmax: readonly MinMaxISpec[]
  readonly std: ISpec
  readonly 'spindle-ratio': number
  readonly 'vcpu-ratio': number
  readonly 'disk-templates': readonly DiskTemplate[]
}

/** A group's overrides; even its standard spec may be partial. */
export type PartialIPolicy = Partial<Omit<IPolicy, 'std'>> & { readonly std?: Partial<ISpec> }
