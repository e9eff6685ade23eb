// Actions on an instance, in the order of its page and menu.
import type { Action } from '../../parts/action'
import { ADD_TAGS, COMMIT, EXPORT, GENERAL, REINSTALL, REMOVE, RENAME, REPAIR } from './actions/change'
import { ACTIVATE_DISKS, ADD_DISK, CONVERT, DEACTIVATE_DISKS, RECREATE_DISKS, SNAPSHOT } from './actions/disks'
import { CHANGE_GROUP, FAILOVER, MIGRATE, MOVE, REPLACE_DISKS } from './actions/move'
import { ADD_NIC } from './actions/nics'
import { HYPERVISOR, OS_PARAMETERS, RESOURCES } from './actions/parameter-dialog'
import { REBOOT, START, STOP } from './actions/run'
import { isNodeOffline } from './actions/request'
import type { Instance } from './instance'

/** The actions for an instance. A reservation has other ones: it can be created, and moves change only its record. */
export function actionsFor(instance: Instance): readonly Action<Instance>[] {
  if (instance.forthcoming === true) return [COMMIT, REMOVE, RENAME, FAILOVER, REPLACE_DISKS, ADD_TAGS]
  // On an offline node, a failover is what helps.
  return isNodeOffline(instance)
    ? [FAILOVER, ...INSTANCE_ACTIONS.filter((action) => action !== FAILOVER)]
    : INSTANCE_ACTIONS
}

const INSTANCE_ACTIONS: readonly Action<Instance>[] = [
  ...[START, STOP, REBOOT, MIGRATE],
  ...[FAILOVER, MOVE, CHANGE_GROUP, REPLACE_DISKS],
  ...[RESOURCES, HYPERVISOR, OS_PARAMETERS, GENERAL, RENAME, ADD_NIC, ADD_TAGS, REINSTALL],
  ...[ADD_DISK, SNAPSHOT, ACTIVATE_DISKS, DEACTIVATE_DISKS, CONVERT, RECREATE_DISKS],
  ...[EXPORT, REPAIR, REMOVE],
]
