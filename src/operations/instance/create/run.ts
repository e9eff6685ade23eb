// The making of an instance. Its record is in the configuration, marked as forthcoming, before anything is made on a node: if the
// job dies, verify and `remove` know of it. What fails is taken back, and what could not be is named.
import { change } from '../../../config/changes'
import type { Disk, Instance } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { texts, type CreateOp } from './plan'
import { createDisks, degraded, removeDisks, sizeText, wipeDisks } from '../disks/files'
import { waitForSync } from '../disks/sync'
import { startOn } from '../startup'
import { imageDisks, osImage } from './os-image'
import { dictOf, reread, type InstanceView } from '../view'

export async function makeInstance(ctx: UnitContext, view: InstanceView, wait: boolean): Promise<InstanceView> {
  const { instance, disks } = view
  disks.forEach((disk, index) => ctx.log.say(`* disk ${index}, size ${sizeText(disk.size)}`))
  ctx.log.say('* creating instance disks...')
  await reserve(ctx, instance, disks)
  await createDisks(ctx, view, disks, { undone: (whole) => forgetIf(whole, ctx, instance) })
  await orTakeBack(ctx, view, async () => {
    if (view.config.cluster.prealloc_wipe_disks && disks.length > 0) {
      ctx.log.say('* wiping instance disks...')
      await wipeDisks(ctx, view, disks)
    }
    ctx.log.say(`adding instance ${instance.name} to cluster config`)
    await ctx.config.change([change('addInstance', instance, disks, disks.length > 0)])
    ctx.log.say('adding disks to cluster config')
    if (wait && !(await waitForSync(ctx, view))) throw degraded()
  })
  return reread(ctx, view)
}

/** Only an instance with disks can leave something behind before it is in the configuration. */
async function reserve(ctx: UnitContext, instance: Instance, disks: readonly Disk[]): Promise<void> {
  if (disks.length === 0) return
  const forthcoming = { ...instance, forthcoming: true } as const
  const disksToCome = disks.map((disk) => ({ ...disk, forthcoming: true }) as const)
  await ctx.config.change([change('addInstance', forthcoming, disksToCome)])
}

async function forget(ctx: UnitContext, instance: Instance): Promise<void> {
  const { instances } = await ctx.config.read({ instances: [instance.uuid] })
  if (instances[instance.uuid] !== undefined) {
    await ctx.config.change([change('removeInstance', instance.uuid)])
  } else if (instance.network_port !== undefined) {
    await ctx.config.change([change('addTcpUdpPort', instance.network_port)])
  }
}

/** Removes disks and instance when a step fails; a disk that cannot be removed keeps the instance, so that it is not lost. */
async function orTakeBack(ctx: UnitContext, view: InstanceView, step: () => Promise<void>): Promise<void> {
  try {
    await step()
  } catch (error) {
    await forgetIf(await removeDisks(ctx, view, view.disks), ctx, view.instance)
    throw error
  }
}

async function forgetIf(removed: boolean, ctx: UnitContext, instance: Instance): Promise<void> {
  if (removed) return forget(ctx, instance)
  ctx.log.warning(
    `Instance ${instance.name} stays in the configuration, because not all of its disks could be removed`,
    `remove it with 'gnt-instance remove ${instance.name}'`,
  )
}

/**
 * Writes the image that is named, or runs the OS scripts if they are wanted. A failure leaves the instance, stopped, as Ganeti does:
 * its disks may help to find out why.
 */
export async function install(ctx: UnitContext, view: InstanceView, op: CreateOp, scripts: boolean): Promise<void> {
  const { instance, primary } = view
  const image = osImage(instance.osparams)
  if (image !== undefined) {
    ctx.log.say('* imaging instance disks...')
    return imageDisks(ctx, view, image)
  }
  if (!scripts || view.disks.length === 0 || instance.os === '') return
  await waitForSync(ctx, view)
  ctx.log.say('* running the instance OS create scripts...')
  const dict = dictOf(view, { osparams_secret: texts(op.osparams_secret ?? {}) })
  const result = await ctx.nodes.attempt(primary, 'instance_os_add', [dict, false, op.debug_level ?? 0])
  if (result.ok) return
  ctx.log.warning(`Instance ${instance.name} was created but not installed; it stays in the configuration, stopped`)
  throw new OpExecError(`Could not add os for instance ${instance.name} on node ${primary.name}: ${result.error}`)
}

export async function startCreated(ctx: UnitContext, view: InstanceView): Promise<void> {
  const { instance, primary } = view
  await ctx.config.change([change('setInstanceStatus', instance.uuid, 'up', true, 'admin')])
  ctx.log.say('* starting instance...')
  const dict = dictOf(await reread(ctx, view))
  const result = await startOn(ctx, primary, dict)
  if (!result.ok) throw new OpExecError(`Could not start instance: ${result.error}`)
}
