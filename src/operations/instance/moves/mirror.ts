// The connection of a mirror's two sides during a move: both sides may write during a migration, otherwise one.
import { OpExecError } from '../../../model/errors'
import { MIRROR_POLL_S } from '../../../model/limits/operations'
import { isMirroredInside } from '../../../model/templates'
import { errorText } from '../../../lib/system-failure'
import type { UnitContext } from '../../unit-context'
import { allNodes, diskDicts, type InstanceView } from '../view'

export const keepsMirrors = ({ disks }: InstanceView): boolean =>
  disks.some(({ dev_type }) => isMirroredInside(dev_type))

/** Lets both sides write. */
export async function toDualPrimary(ctx: UnitContext, view: InstanceView): Promise<void> {
  await reconnect(ctx, view, true)
  await waitForResync(ctx, view)
}

/** Back to one side that writes. The other must be closed already. */
export async function toSinglePrimary(ctx: UnitContext, view: InstanceView): Promise<void> {
  await reconnect(ctx, view, false)
  await waitForResync(ctx, view)
}

async function reconnect(ctx: UnitContext, view: InstanceView, multimaster: boolean): Promise<void> {
  const nodes = allNodes(view)
  const dicts = diskDicts(view)
  ctx.log.say('* changing into standalone mode')
  const alone = await ctx.nodes.many(nodes, 'drbd_disconnect_net', [dicts])
  for (const node of nodes) ctx.nodes.raise(alone, node, `Cannot disconnect disks node ${node.name}`)
  ctx.log.say(`* changing disks into ${multimaster ? 'dual-master' : 'single-master'} mode`)
  const attached = await ctx.nodes.many(nodes, 'drbd_attach_net', [dicts, multimaster])
  for (const node of nodes) ctx.nodes.raise(attached, node, `Cannot change disks config on node ${node.name}`)
}

export async function waitForResync(ctx: UnitContext, view: InstanceView): Promise<void> {
  const nodes = allNodes(view)
  ctx.log.say('* wait until resync is done')
  for (;;) {
    const results = await ctx.nodes.many(nodes, 'drbd_wait_sync', [diskDicts(view)])
    const states = nodes.map((node) => ctx.nodes.raise(results, node, `Cannot resync disks on node ${node.name}`))
    if (states.every(([done]) => done)) return
    const percent = Math.min(100, ...states.map(([, synced]) => synced))
    if (percent < 100) ctx.log.say(`   - progress: ${percent.toFixed(1)}%`)
    await ctx.env.clock.sleep(MIRROR_POLL_S * 1000)
  }
}

/** The same if a side may have lost the other: instead of waiting for a sync, it reconnects them. */
export async function repairMirror(ctx: UnitContext, view: InstanceView): Promise<void> {
  try {
    await waitForResync(ctx, view)
  } catch (error) {
    if (!(error instanceof OpExecError)) throw error
    ctx.log.info(`The sides of the disks are not in sync, they are connected again: ${errorText(error)}`)
  }
  await toSinglePrimary(ctx, view)
}
