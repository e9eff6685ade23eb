// An instance's object in the configuration.
import type { OsParams, Params, Stamped, Tagged } from './common'
import type { Hypervisor } from './constants/hypervisors'
import type { DiskUuid, InstanceUuid, NodeUuid } from './ids'
import type { Nic } from './nic'
import type { BeParams } from './params'

export type AdminState = 'up' | 'down' | 'offline'
type AdminStateSource = 'admin' | 'user'

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
  /** Whether its disks should exist for it. With `forthcoming`: whether parts of them may already be on its nodes. */
  readonly disks_active: boolean
  readonly network_port?: number
  readonly uuid: InstanceUuid
  /** Present (and true) only while the instance does not exist yet. */
  readonly forthcoming?: true
}

/** The two flags together, so that no file of ours is needed beside the configuration: Ganeti's reservations have inactive disks. */
type Progress = Pick<Instance, 'forthcoming' | 'disks_active'>

/** Whether it is only reserved: nothing of it is on any node. */
export const isReserved = ({ forthcoming, disks_active }: Progress): boolean => forthcoming === true && !disks_active

/** Whether it is being made, or its creation was interrupted: parts of its disks may be on its nodes. */
export const isHalfMade = ({ forthcoming, disks_active }: Progress): boolean => forthcoming === true && disks_active
