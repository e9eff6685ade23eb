// Shuts down all DRBD devices that this node has for the cluster, even those in use, because the node may no longer take part.
import { errorText } from '../../../lib/system-failure'
import { HELD_DEVICE_S } from '../../../model/limits/storage'
import type { StorageContext } from '../storage'
import { order, orderHeld } from '../tools'
import { resourceName } from './commands'
import { readKernel } from './kernel'
import { parseShown, type Shown } from './shown'

/** Continues if a device cannot be shut down. Returns the minors that are now free. */
export async function shutDownAll(context: StorageContext): Promise<number[]> {
  const kernel = await readKernel(context)
  if (kernel === undefined || kernel.minors.size === 0) return []
  const displayed = parseShown(await order(context, ['drbdsetup', 'show'], 'Cannot list the devices of DRBD'))
  const freed: number[] = []
  // The user of a device may just be ending. It is waited for once, not once for each device.
  const end_ms = context.clock.monotonic_ms() + HELD_DEVICE_S * 1000
  for (const minor of kernel.minors.keys()) {
    const facts = displayed.get(minor)
    if (!isOfCluster(context, minor, facts)) continue
    context.log.warn(
      { minor, data: facts?.disk },
      'this node is offline, so the disk must not be active here and is shut down',
    )
    const left_s = Math.max(0, (end_ms - context.clock.monotonic_ms()) / 1000)
    const command = ['drbdsetup', 'down', resourceName(minor)]
    await orderHeld(context, command, `Cannot shut down minor ${minor} of DRBD`, left_s)
      .then(() => freed.push(minor))
      .catch((error: unknown) =>
        context.log.error(
          { minor, failure: errorText(error) },
          'a disk could not be shut down; the node tries again later',
        ),
      )
  }
  return freed
}

/** Decided by the resource's name. Test nodes share a machine and so its kernel: there, the node's own address for DRBD decides. */
function isOfCluster(
  { paths, hostname, ssconf }: StorageContext,
  minor: number,
  displayed: Shown | undefined,
): boolean {
  if (displayed !== undefined && displayed.resource !== resourceName(minor)) return false
  if (paths.root === '') return true
  const [, own] =
    ssconf
      .lines('node_secondary_ips')
      .map((line) => line.split(' '))
      .find(([name]) => name === hostname) ?? []
  return own !== undefined && (displayed?.local?.replaceAll(/[[\]]/g, '').includes(`:${own}:`) ?? false)
}
