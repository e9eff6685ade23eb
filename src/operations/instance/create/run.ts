// Makes an instance. Its record is written to the configuration, marked as half made, before any node acts. So if the job dies, verify,
// `remove` and `add --commit` know of the instance. A failed step is undone; remains are named. A reserved instance becomes a reservation
// again.
import { change } from '../../../config/changes'
import type { Disk, Instance } from '../../../model/config'
import { toCome } from '../../../model/disk'
import { isHalfMade } from '../../../model/instance'
import { OpExecError } from '../../../model/errors'
import { errorText } from '../../../lib/system-failure'
import type { UnitContext } from '../../unit-context'
import { adopts, adoptVolumes, giveBack, toBeAdopted } from '../disks/adoption'
import { texts, type CreateOp, type Wanted, withInstance } from './plan'
import { returnPorts, withIdentities } from '../disks/new-disks'
import { createDisks, degraded, noteOwner, removeDisks, tellDisk, wipeDisks } from '../disks/files'
import { waitForSync } from '../disks/sync'
import { startOn } from '../startup'
import { imageDisks, osImage } from './os-image'
import { dictOf, diskDicts, reread, viewOf, type InstanceView } from '../view'
import { isMirroredInside } from '../../../model/templates'

interface Making {
  readonly wanted: Wanted
  readonly wait: boolean
  /** The instance's earlier record, if it was reserved or its creation was interrupted. */
  readonly reserved: InstanceView | undefined
}

export async function makeInstance(ctx: UnitContext, planned: InstanceView, making: Making): Promise<InstanceView> {
  const { wanted: desired, wait, reserved } = making
  const view = await identified(ctx, planned)
  const { instance, disks } = view
  const adopted = adopts(desired)
  disks.forEach((disk, index) => tellDisk(ctx, disk, index))
  if (adopted) await adopt(ctx, view, toBeAdopted(disks, desired))
  else {
    if (reserved !== undefined && isHalfMade(reserved.instance)) await clearAway(ctx, reserved)
    ctx.log.say('* creating instance disks...')
    if (disks.length > 0) await register(ctx, instance, disks, reserved)
    await createDisks(ctx, view, disks, { undone: (whole) => forgetIf(whole, ctx, instance, reserved) })
  }
  const takeBack = () =>
    adopted ? giveBack(ctx, view, toBeAdopted(disks, desired)) : removeDisks(ctx, view, view.disks)
  await orTakeBack(ctx, { view, reserved, takeBack }, async () => {
    if (view.config.cluster.prealloc_wipe_disks && disks.length > 0 && !adopted) {
      ctx.log.say('* wiping instance disks...')
      await wipeDisks(ctx, view, disks)
    }
    ctx.log.say(`adding instance ${instance.name} to cluster config`)
    await ctx.config.change([recordOf(instance, disks, { reserved, replace: disks.length > 0 })])
    ctx.log.say('adding disks to cluster config')
    if (!(await areWhole(ctx, view, wait))) throw degraded()
    // New disks get the owner's note when they are made.
    if (adopted) await noteOwner(ctx, view)
  })
  return reread(ctx, view)
}

/** Writes only the record. No node acts. */
export async function reserveInstance(ctx: UnitContext, planned: InstanceView): Promise<void> {
  const { instance, disks } = await identified(ctx, planned)
  ctx.log.say('Instance is forthcoming, not creating disks')
  ctx.log.say(`adding instance ${instance.name} to cluster config`)
  await register(ctx, instance, disks, undefined)
  ctx.log.say('adding disks to cluster config')
  ctx.log.say('Instance is forthcoming; not creating the actual instance')
}

/** The change that writes the record, in place of an earlier one. */
const recordOf = (
  instance: Instance,
  disks: readonly Disk[],
  { reserved, replace = false }: { reserved: InstanceView | undefined; replace?: boolean },
) =>
  reserved === undefined ? change('addInstance', instance, disks, replace) : change('replaceInstance', instance, disks)

/** Removes the parts that an interrupted creation has left. */
async function clearAway(ctx: UnitContext, left: InstanceView): Promise<void> {
  if (await removeDisks(ctx, left, left.disks)) return
  throw new OpExecError(
    `The creation of instance ${left.instance.name} was interrupted, and not everything that it made could be removed, so it cannot be repeated`,
  )
}

/** Gives the disks the values that no other disks may have. */
async function identified(ctx: UnitContext, view: InstanceView): Promise<InstanceView> {
  const disks = await withIdentities(ctx, view.disks)
  return viewOf(withInstance(view.config, view.instance, disks), view.instance)
}

/** Until the volumes have become the instance's disks, its record names the volumes. */
async function adopt(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<void> {
  await register(ctx, view.instance, disks, undefined)
  try {
    await adoptVolumes(ctx, view, disks)
  } catch (error) {
    await forgetIf(await giveBack(ctx, view, disks), ctx, view.instance, undefined)
    throw error
  }
}

/** Whether the disks are complete. For a caller that does not want to wait, a mirror that is still being filled is enough. */
async function areWhole(ctx: UnitContext, view: InstanceView, wait: boolean): Promise<boolean> {
  if (wait) return waitForSync(ctx, view)
  if (!view.disks.some(({ dev_type }) => isMirroredInside(dev_type))) return true
  ctx.log.say('* checking mirrors status')
  return waitForSync(ctx, view, { oneshot: true })
}

/**
 * Writes the record of an instance that does not exist yet. An instance without disks leaves nothing on nodes, so it gets no such record.
 */
async function register(
  ctx: UnitContext,
  instance: Instance,
  disks: readonly Disk[],
  reserved: InstanceView | undefined,
): Promise<void> {
  // A reservation keeps its addresses until the instance exists, so that no other instance gets them if the creation fails.
  const { nics } = reserved?.instance ?? instance
  try {
    await ctx.config.change([recordOf({ ...instance, nics, forthcoming: true }, disks.map(toCome), { reserved })])
  } catch (error) {
    // The answer may be lost although the change was made.
    if (!(await ctx.config.isSettled())) throw error
    if (!(await isKnown(ctx, instance))) await returnPorts(ctx, disks)
    await forget(ctx, instance, reserved)
    throw error
  }
}

async function isKnown(ctx: UnitContext, { uuid }: Instance): Promise<boolean> {
  const { instances } = await ctx.config.read({ instances: [uuid] })
  return instances[uuid] !== undefined
}

async function forget(ctx: UnitContext, instance: Instance, reserved: InstanceView | undefined): Promise<void> {
  if (reserved !== undefined) {
    await reserveAgain(ctx, instance, reserved)
  } else if (await isKnown(ctx, instance)) {
    await ctx.config.change([change('removeInstance', instance.uuid)])
  } else if (instance.network_port !== undefined) {
    await ctx.config.change([change('addTcpUdpPort', instance.network_port)])
  }
}

/** Restores the reservation, except for addresses that it has given up meanwhile. */
async function reserveAgain(ctx: UnitContext, made: Instance, { instance, disks }: InstanceView): Promise<void> {
  const { instances } = await ctx.config.read({ instances: [instance.uuid] })
  const { nics } = instances[instance.uuid] ?? instance
  const newPort = instance.network_port === undefined ? made.network_port : undefined
  await ctx.config.change([
    change('replaceInstance', { ...instance, nics, forthcoming: true, disks_active: false }, disks),
    ...(newPort === undefined ? [] : [change('addTcpUdpPort', newPort)]),
  ])
  ctx.log.info(`Instance ${instance.name} stays reserved`)
}

interface Undoing {
  readonly view: InstanceView
  readonly reserved: InstanceView | undefined
  readonly takeBack: () => Promise<boolean>
}

/**
 * Removes the disks and the instance if a step fails. If a disk cannot be removed, the instance stays, so that the disk is not forgotten.
 * While nobody knows what the configuration has, or it takes no change, both stay.
 */
async function orTakeBack(
  ctx: UnitContext,
  { view, reserved, takeBack }: Undoing,
  step: () => Promise<void>,
): Promise<void> {
  try {
    await step()
  } catch (error) {
    if (!(await ctx.config.isSettled()) || !(await isHalfMadeAgain(ctx, view))) throw error
    await forgetIf(await takeBack(), ctx, view.instance, reserved).catch((failure: unknown) =>
      ctx.log.warning(
        `Instance ${view.instance.name} stays half made in the configuration: ${errorText(failure)}`,
        removal(view),
      ),
    )
    throw error
  }
}

/** Before the first disk goes, the record must say that disks may be missing. If that cannot be written, the disks stay with their instance. */
async function isHalfMadeAgain(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const { instance, disks } = view
  const { instances } = await ctx.config.read({ instances: [instance.uuid] })
  const known = instances[instance.uuid]
  if (known === undefined || known.forthcoming) return true
  try {
    const record = { ...known, forthcoming: true as const, disks_active: true }
    await ctx.config.change([change('replaceInstance', record, disks.map(toCome))])
    return true
  } catch (error) {
    ctx.log.warning(`Instance ${instance.name} stays, with its disks: ${errorText(error)}`, removal(view))
    return false
  }
}

const removal = ({ instance }: InstanceView): string => `remove it with 'gnt-instance remove ${instance.name}'`

async function forgetIf(
  removed: boolean,
  ctx: UnitContext,
  instance: Instance,
  reserved: InstanceView | undefined,
): Promise<void> {
  if (removed) return forget(ctx, instance, reserved)
  ctx.log.warning(
    `Instance ${instance.name} stays in the configuration, because not all of its disks could be removed`,
    `remove it with 'gnt-instance remove ${instance.name}'`,
  )
}

/**
 * Writes the named image, or runs the OS scripts if wanted. On failure the instance stays, stopped, as in Ganeti: its
 * disks may help to find the reason.
 */
export async function install(ctx: UnitContext, view: InstanceView, op: CreateOp, scripts: boolean): Promise<void> {
  const { instance, primary } = view
  const image = osImage(instance.osparams)
  if (image !== undefined) {
    ctx.log.say('* imaging instance disks...')
    return imageDisks(ctx, view, image)
  }
  if (!scripts || view.disks.length === 0 || instance.os === '') return
  await areWhole(ctx, view, op.wait_for_sync)
  ctx.log.say('* running the instance OS create scripts...')
  const dict = dictOf(view, { osparams_secret: texts(op.osparams_secret ?? {}) })
  // Pauses the filling of the mirror during the scripts. So their writes are not sent twice, and do not compete for the
  // disk.
  const paused = !op.wait_for_sync && view.disks.some(({ dev_type }) => isMirroredInside(dev_type))
  if (paused) await pauseSync(ctx, view, true)
  const result = await ctx.nodes.attempt(primary, 'instance_os_add', [dict, false, op.debug_level ?? 0])
  if (paused) await pauseSync(ctx, view, false)
  if (result.ok) return
  ctx.log.warning(`Instance ${instance.name} was created but not installed; it stays in the configuration, stopped`)
  throw new OpExecError(`Could not add os for instance ${instance.name} on node ${primary.name}: ${result.error}`)
}

async function pauseSync(ctx: UnitContext, view: InstanceView, pause: boolean): Promise<void> {
  ctx.log.say(pause ? '* pausing disk sync to install instance OS' : '* resuming disk sync')
  const result = await ctx.nodes.attempt(view.primary, 'blockdev_pause_resume_sync', [diskDicts(view), pause])
  if (!result.ok) ctx.log.warning(`Could not ${pause ? 'pause' : 'resume'} the sync of disks: ${result.error}`)
}

export async function startCreated(ctx: UnitContext, view: InstanceView): Promise<void> {
  const { instance, primary } = view
  await ctx.config.change([change('setInstanceStatus', instance.uuid, 'up', true, 'admin')])
  ctx.log.say('* starting instance...')
  const dict = dictOf(await reread(ctx, view))
  const result = await startOn(ctx, primary, dict)
  if (!result.ok) throw new OpExecError(`Could not start instance: ${result.error}`)
}
