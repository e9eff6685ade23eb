// Instances whose addresses conflict when a network is connected to their group or disconnected from it.
import type { Instance, Nic } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import type { UnitContext } from '../unit-context'

export function checkNicConflicts(
  ctx: UnitContext,
  names: { network: string; group: string; action: 'connect to' | 'disconnect from' },
  instances: readonly Instance[],
  conflicts: (nic: Nic) => boolean,
): void {
  const found = instances.flatMap((instance) => {
    const nics = instance.nics.flatMap((nic, index) => (conflicts(nic) ? [`nic${index}/${nic.ip ?? 'None'}`] : []))
    return nics.length > 0 ? [`${instance.name}: ${nics.join(', ')}`] : []
  })
  if (found.length === 0) return
  ctx.log.warning(
    `IP addresses from network '${names.network}', which is about to ${names.action} node group '${names.group}', are in use: ${found.join(', ')}`,
  )
  throw new OpPrereqError(
    'Conflicting IP addresses found;  remove/modify the corresponding network interfaces',
    ECODE.STATE,
  )
}
