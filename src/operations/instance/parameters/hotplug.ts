// Changes devices of a running instance at once, if its hypervisor can; otherwise they change at the next start.
import { nicDict } from '../../../config/rpc-dicts'
import type { Disk, Nic } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import type { DiskDict, NicDict } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import type { DiskLink } from '../disks/activation'
import { tellRemarks } from '../startup'
import type { Changed } from './set-op'
import { dictOf, diskDictOf, type InstanceView } from '../view'

export type HotplugAction = 'hotadd' | 'hotremove' | 'hotmod'

/** Whether devices can be changed live; logs why not. */
export async function canHotplug(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const result = await ctx.nodes.attempt(view.primary, 'hotplug_supported', [dictOf(view)])
  if (result.ok) return true
  ctx.log.warning(result.error)
  ctx.log.info('Modification will take place without hotplugging.')
  return false
}

const FAILED = 'hotplug:failed'

/** Returns `hotplug:done` or `hotplug:failed`. The caller reports it as a separate change beside the device's. */
async function hotplug(
  ctx: UnitContext,
  view: InstanceView,
  action: HotplugAction,
  kind: 'disk' | 'nic',
  device: DiskDict | NicDict,
  extra: unknown,
  index: number,
): Promise<string> {
  ctx.log.info('Trying to hotplug device...')
  const args = [dictOf(view), action, kind, device, extra, index] as const
  const result = await ctx.nodes.attempt(view.primary, 'hotplug_device', [...args])
  if (result.ok) {
    // A node of Ganeti answers with the device's place.
    if (Array.isArray(result.payload)) tellRemarks(ctx, result.payload.map(String))
    ctx.log.info('Hotplug done.')
    return 'hotplug:done'
  }
  ctx.log.warning(`Could not hotplug device: ${result.error}`)
  ctx.log.info('Continuing execution..')
  return FAILED
}

/** Plugs an assembled disk. */
export async function plugDisk(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  link: DiskLink | undefined,
  index: number,
): Promise<Changed> {
  const outcome = await hotplug(ctx, view, 'hotadd', 'disk', diskDictOf(view, disk), link ?? null, index)
  return [`disk/${index}`, outcome]
}

/** A disk that the running instance does not release stays. */
export async function unplugDisk(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  index: number,
  done: 'removed' | 'detached',
): Promise<Changed> {
  const outcome = await hotplug(ctx, view, 'hotremove', 'disk', diskDictOf(view, disk), null, index)
  if (outcome === FAILED)
    throw new OpExecError(`Disk ${index} is still in use by the running instance, it was not ${done}`)
  return [`disk/${index}`, outcome]
}

/**
 * A NIC that the running instance does not release stays as it is, because its addresses are still in use. A NIC that
 * could not be added appears at the next start.
 */
export async function plugNic(
  ctx: UnitContext,
  view: InstanceView,
  action: HotplugAction,
  nic: Nic,
  index: number,
): Promise<string> {
  const outcome = await hotplug(ctx, view, action, 'nic', nicDict(view.config, nic), null, index)
  if (outcome === FAILED && action !== 'hotadd')
    throw new OpExecError(
      `NIC ${index} is still in use by the running instance, it was not ${action === 'hotmod' ? 'changed' : 'removed'}; with --no-hotplug it is at the next start`,
    )
  return outcome
}
