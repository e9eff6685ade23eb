// A node group's object in the configuration.
import type { Params, Stamped, StaticState, Tagged } from './common'
import type { GroupUuid, NodeUuid } from './ids'
import type { NdParams, NicParams, PartialIPolicy } from './params'

type AllocPolicy = 'preferred' | 'last_resort' | 'unallocable'

/** `{disk template: parameters}` */
export type GroupDiskParams = Readonly<Record<string, Params>>

export interface NodeGroup extends Stamped, Tagged {
  readonly name: string
  /** Kept for Ganeti's Python code. Use `nodesOfGroup` to get the members. */
  readonly members: readonly NodeUuid[]
  readonly ndparams: Partial<NdParams>
  readonly alloc_policy: AllocPolicy
  readonly ipolicy: PartialIPolicy
  readonly diskparams: GroupDiskParams
  /** NIC parameters by the uuid of the connected network. */
  readonly networks: Readonly<Record<string, NicParams>>
  readonly hv_state_static?: StaticState
  readonly disk_state_static?: StaticState
  readonly uuid: GroupUuid
}
