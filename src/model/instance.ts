// An instance's object in the configuration.
import type { OsParams, Params, Stamped, Tagged } from './common'
import type { Hypervisor } from './constants/hypervisors'
import type { DiskUuid, InstanceUuid, NodeUuid } from './ids'
import type { Nic } from './nic'
import type { BeParams } from './params'

export type AdminState = 'up' | 'down' | 'offline'
export type AdminStateSource = 'admin' | 'user'

export interface Instance extends Stamped, Tagged {
  readonly name: string
  readonly primary_node: NodeUuid
  /** `name` or `name+variant`; may be empty. */
  readonly os: string
  readonly hypervisor: Hypervisor
  readonly hvparams: Params
  readonly beparams: Partial<BeParams>
  readonly osparams: OsParams
  readonly osparams_private: OsParams
  readonly admin_state: AdminState
  readonly admin_state_source: AdminStateSource
  readonly nics: readonly Nic[]
  /** In order: the first is disk 0. */
  readonly disks: readonly DiskUuid[]
  readonly disks_active: boolean
  readonly network_port?: number
  readonly uuid: InstanceUuid
  /** Present, and true, only on a reservation for an instance that does not exist yet. */
  readonly forthcoming?: true
}
