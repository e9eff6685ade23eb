// The whole configuration: what config.data holds. Immutable; containers are keyed by uuid and iterate in its order.
import type { Cluster } from './cluster'
import type { Disk } from './disk'
import type { FilterRule } from './filter-rule'
import type { Instance } from './instance'
import type { Network } from './network'
import type { Node } from './node'
import type { NodeGroup } from './node-group'

export type { Cluster } from './cluster'
export type { Hypervisor } from './constants/hypervisors'
export type { OsParams, Params, Stamped, Tagged } from './common'
export type { Disk, DiskMode, DrbdId, LogicalId } from './disk'
export type { FilterPredicate, FilterRule, ReasonEntry } from './filter-rule'
export type { AdminState, Instance } from './instance'
export type { Network } from './network'
export type { Nic } from './nic'
export type { Node } from './node'
export type { GroupDiskParams, NodeGroup } from './node-group'
export type { BeParams, IPolicy, ISpec, NdParams, NicMode, NicParams, PartialIPolicy } from './params'
export type { NetworkUuid, NodeUuid } from './ids'

export type Container<T> = Readonly<Record<string, T>>

/** The containers and their objects. */
export interface ObjectKinds {
  nodes: Node
  nodegroups: NodeGroup
  instances: Instance
  networks: Network
  disks: Disk
  filters: FilterRule
}

export type ObjectKind = keyof ObjectKinds
export type ConfigContainers = { readonly [K in ObjectKind]: Container<ObjectKinds[K]> }

export interface ConfigData extends ConfigContainers {
  readonly version: number
  readonly cluster: Cluster
  readonly ctime: number
  readonly mtime: number
  readonly serial_no: number
}

/** Gantry's own data, in gantry.data beside config.data: sections of keyed JSON values. */
export interface GantryData {
  readonly version: number
  /** The store's serial number at the last change of this document. */
  readonly serial_no: number
  readonly sections: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** Both documents at the same moment. */
export interface Documents {
  readonly config: ConfigData
  readonly gantry: GantryData
}
