// A node's object in the configuration.
import type { Stamped, StaticState, Tagged } from './common'
import type { GroupUuid, NodeUuid } from './ids'
import type { NdParams } from './params'

export interface Node extends Stamped, Tagged {
  readonly name: string
  readonly primary_ip: string
  readonly secondary_ip: string
  readonly master_candidate: boolean
  readonly offline: boolean
  readonly drained: boolean
  readonly group: GroupUuid
  readonly master_capable: boolean
  readonly vm_capable: boolean
  readonly ndparams: Partial<NdParams>
  readonly powered: boolean
  readonly hv_state_static?: StaticState
  readonly disk_state_static?: StaticState
  readonly uuid: NodeUuid
}
