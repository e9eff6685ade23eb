// Shuts down all devices of DRBD that this node has for the cluster, whoever uses them: the node may not take part any more.
import { errorText } from '../../../lib/system-failure'
import { HELD_DEVICE_S } from '../../../model/limits/storage'
import type { StorageContext } from '../storage'
import { order, orderHeld } from '../tools'
import { resourceName } from './commands'
import { readKernel } from './kernel'
import { parseShown, type Shown } from './shown'

/** Whatever becomes of single ones. Resolves to the minors that are free now. */
export async function shutDownAll(context: StorageContext): Promise<number[]> {
  const kernel = await readKernel(context)
  if (kernel === undefined || kernel.minors.size === 0) return []
  const shown = parseShown(await order(context, ['drbdsetup', 'show'], 'Cannot list the devices of DRBD'))
  const freed: number[] = []
  // The one that ends a device that is held may be on its way; it is not waited for once more for each.
  const end_ms = context.clock.monotonic_ms() + HELD_DEVICE_S * 1000
  for (const minor of kernel.minors.keys()) {
    const facts = shown.get(minor)
    if (!isOfCluster(context, minor, facts)) continue
    context.log.warn(
      { minor, data: facts?.disk },
      'this node is offline, so its disk must not be active here: it is shut down',
    )
    const left_s = Math.max(0, (end_ms - context.clock.monotonic_ms()) / 1000)
    const command = ['drbdsetup', 'down', resourceName(minor)]
    await orderHeld(context, command, `Cannot shut down minor ${minor} of DRBD`, left_s)
      .then(() => freed.push(minor))
      .catch((error: unknown) =>
        context.log.error({ minor, failure: errorText(error) }, 'a disk stays active; it is tried again'),
      )
  }
  return freed
}

/** By its name; and where nodes share a machine, and so its kernel, by the address that this one has for DRBD. */
function isOfCluster({ paths, hostname, ssconf }: StorageContext, minor: number, shown: Shown | undefined): boolean {
  if (shown !== undefined && shown.resource !== resourceName(minor)) return false
  if (paths.root === '') return true
  const [, own] =
    ssconf
      .lines('node_secondary_ips')
      .map((line) => line.split(' '))
      .find(([name]) => name === hostname) ?? []
  return own !== undefined && (shown?.local?.replaceAll(/[[\]]/g, '').includes(`:${own}:`) ?? false)
}
