// Actions on an instance, in the order of its page and menu.
import type { Action } from '../../parts/action'
import { ADD_TAGS, COMMIT, EXPORT, GENERAL, REINSTALL, REMOVE, RENAME, REPAIR } from './actions/change'
import { ACTIVATE_DISKS, ADD_DISK, CONVERT, DEACTIVATE_DISKS, RECREATE_DISKS, SNAPSHOT } from './actions/disks'
import { CHANGE_GROUP, FAILOVER, MIGRATE, MOVE, REPLACE_DISKS } from './actions/move'
import { ADD_NIC } from './actions/nics'
import { HYPERVISOR, OS_PARAMETERS, RESOURCES } from './actions/parameter-dialog'
import { REBOOT, START, STOP } from './actions/run'
import type { Instance } from './instance'

/** The actions for an instance. A reservation has other ones: it can be created, and moves change only its record. */
export const actionsFor = (instance: Instance): readonly Action<Instance>[] =>
  instance.forthcoming === true ? [COMMIT, REMOVE, RENAME, FAILOVER, REPLACE_DISKS, ADD_TAGS] : INSTANCE_ACTIONS

const INSTANCE_ACTIONS: readonly Action<Instance>[] = [
  ...[START, STOP, REBOOT, MIGRATE],
  ...[FAILOVER, MOVE, CHANGE_GROUP, REPLACE_DISKS],
  ...[RESOURCES, HYPERVISOR, OS_PARAMETERS, GENERAL, RENAME, ADD_NIC, ADD_TAGS, REINSTALL],
  ...[ADD_DISK, SNAPSHOT, ACTIVATE_DISKS, DEACTIVATE_DISKS, CONVERT, RECREATE_DISKS],
  ...[EXPORT, REPAIR, REMOVE],
]
