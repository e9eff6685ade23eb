// Changing devices of a running instance at once, where its hypervisor can; otherwise they change with the next start.
import type { DiskDict, NicDict } from '../../rpc/node/dicts'
import type { UnitContext } from '../unit-context'
import { dictOf, type InstanceView } from './view'

export type HotplugAction = 'hotadd' | 'hotremove' | 'hotmod'

/** Whether device changes can be made live; says why not. */
export async function canHotplug(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const result = await ctx.nodes.attempt(view.primary, 'hotplug_supported', [dictOf(view)])
  if (result.ok) return true
  ctx.log.warning(result.error)
  ctx.log.info('Modification will take place without hotplugging.')
  return false
}

/** What the change's description gets: `hotplug:done` or `hotplug:failed`. */
export async function hotplug(
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
    ctx.log.info('Hotplug done.')
    return 'hotplug:done'
  }
  ctx.log.warning(`Could not hotplug device: ${result.error}`)
  ctx.log.info('Continuing execution..')
  return 'hotplug:failed'
}
