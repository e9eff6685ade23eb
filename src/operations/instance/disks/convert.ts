// Replaces an instance's disks by disks of another template with the same data.
import { change } from '../../../config/changes'
import { diskTemplateOf } from '../../../config/lookup'
import { fillNdParams } from '../../../config/filled'
import type { Disk, Node } from '../../../model/config'
import { carriedTo } from '../../../model/disk-parameters'
import { ECODE, type ErrorCode, OpExecError, OpPrereqError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { checkInstanceState, checkNodeOnline, DOWN } from '../checks'
import { diskText } from './disk-text'
import { createDisks, degraded, removeDisks, sizeText } from './files'
import {
  checkMirrorSpace,
  checkWholeSizes,
  dataDisks,
  drbdToPlain,
  plainToDrbd,
  secondaryFor,
} from './mirror-conversion'
import { areNoted } from './noted'
import { newDisks, returnPorts, withIdentities } from './new-disks'
import { realSizes, sizedAs } from './real-sizes'
import { checkOutside } from './outside'
import { Undo } from './undo'
import { DATA } from './volume-names'
import { checkTemplate, diskSpec, type DiskSpec, fileStorageFolder } from './spec'
import { checkVolumeSpace, volumeNeeds } from './volume-space'
import { waitForSync } from './sync'
import { assembleDisks, incompleteOnPrimary, shutdownDisks } from './activation'
import { groupPolicy } from './changes'
import { refuseSnapshots } from '../snapshots/notes'
import type { Changed, SetOp } from '../parameters/set-op'
import { diskDictOf, reread, withNodes, type InstanceView } from '../view'
import { diskIdOf, type DiskTemplate, factsOf, isDrbd, isMirroredInside, isOnLvm } from '../../../model/templates'

export interface Conversion {
  readonly from: DiskTemplate | 'mixed'
  readonly template: DiskTemplate
  readonly disks: readonly Disk[]
  /** The node of the new mirrors' other side. */
  readonly secondary: Node | undefined
}

export async function planConversion(
  ctx: UnitContext,
  view: InstanceView,
  template: DiskTemplate,
  op: SetOp,
): Promise<Conversion> {
  const { config, instance, primary } = view
  const { cluster } = config
  const refuse = (text: string, code: ErrorCode = ECODE.STATE) => new OpPrereqError(text, code)
  const from = diskTemplateOf(config, instance)
  // Ganeti cannot convert disks of several templates. We copy each separately.
  if (from !== 'mixed' && factsOf(from).notConvertible === 'either')
    throw refuse(`Conversion from the '${from}' disk template is not supported; ${wayFor(from)}`, ECODE.INVAL)
  if (factsOf(template).notConvertible !== undefined)
    throw refuse(`Conversion to the '${template}' disk template is not supported; ${wayFor(template)}`, ECODE.INVAL)
  if (factsOf(template).ownParams !== true && from === template)
    throw refuse(`Instance already has disk template ${template}`, ECODE.INVAL)
  const enabled = cluster.enabled_disk_templates
  if (!enabled.includes(template))
    throw refuse(
      `Disk template '${template}' is not enabled for this cluster (enabled templates: ${enabled.join(', ')})`,
    )
  if (!cluster.volume_group_name && isOnLvm(template))
    throw refuse('Disk template conversions to lvm-based instances are not supported by the cluster')
  await checkInstanceState(ctx, view, DOWN, 'cannot change disk template')
  await refuseSnapshots(ctx, view, view.disks, 'it cannot become a disk of another template')
  checkNodeOnline(primary)
  const allowed: readonly string[] = groupPolicy(view)['disk-templates'] ?? []
  if (!allowed.includes(template))
    throw refuse(`Disk template '${template}' in not allowed (allowed templates: ${allowed.join(', ')})`)
  if (factsOf(template).exclusive !== true && fillNdParams(config, primary).exclusive_storage)
    throw refuse(`Cannot convert disk template from ${from} to ${template} when exclusive storage is enabled`)
  checkTemplate(cluster, template)
  const input = op.remote_node ?? op.remote_node_uuid ?? op.iallocator
  if (input !== undefined && !isMirroredInside(template))
    ctx.log.warning('Changing the disk template to a non-mirrored one, the secondary node will be ignored')
  const secondary = await secondaryFor(ctx, view, op)
  const [mirror] = view.secondaries
  if (from === 'mixed' && secondary !== undefined && mirror !== undefined && secondary.uuid !== mirror.uuid)
    throw refuse(`Node ${mirror.name} has the mirrors of the instance's other disks: name it as the secondary node`)
  const bytes = await realSizes(ctx, view)
  const sized = sizedAs(ctx, view, bytes)
  if (isDrbd(from) && diskIdOf(template) === 'volume')
    return { from, template, disks: dataDisks(sized), secondary: undefined }
  const folder = fileStorageFolder(cluster, template, instance.name, op.file_storage_dir)
  const specs = sized.disks.map(({ size, mode, name, params }) => {
    const own = factsOf(template).ownParams === true ? diskSpec({ ...op.ext_params, size }, template) : {}
    return { ...own, size, mode, name, params: carriedTo(params, template) }
  })
  await checkOutside(ctx, specs, { config, primary, hypervisor: instance.hypervisor, template })
  const place = { config, primary, secondary, folder }
  const disks = newDisks(ctx, asVolumes(view, specs, from), template, place, { driver: op.file_driver })
  if (secondary !== undefined && diskIdOf(from) === 'volume') {
    checkWholeSizes(view, bytes)
    await checkMirrorSpace(ctx, view, secondary, disks)
  } else
    await checkVolumeSpace(ctx, config, secondary === undefined ? [primary] : [primary, secondary], volumeNeeds(disks))
  return { from, template, disks, secondary }
}

const wayFor = (template: DiskTemplate): string =>
  factsOf(template).empty === true
    ? 'disks come and go with "gnt-instance modify --disk add:size=SIZE" and "--disk remove"'
    : 'make an instance on its devices with "gnt-instance add -t blockdev --disk 0:adopt=DEVICE", and copy the data'

/**
 * Volumes stay in their groups. Volumes of a new mirror keep their names as a prefix, so that verify can tell whose
 * data it finds. While data is copied, both exist.
 */
const asVolumes = ({ disks }: InstanceView, specs: readonly DiskSpec[], from: Conversion['from']): DiskSpec[] =>
  specs.map((spec, index) => {
    const disk = disks[index]
    if (diskIdOf(disk?.dev_type) !== 'volume') return spec
    const [vg = '', name = ''] = (disk?.logical_id ?? []).map(String)
    return { ...spec, vg, ...(diskIdOf(from) === 'volume' && { stem: name.replace(DATA, '') }) }
  })

/** The old disks are deleted when the new ones have all data and are in the configuration. */
export async function convertDisks(
  ctx: UnitContext,
  view: InstanceView,
  { from, template, disks: planned, secondary }: Conversion,
  op: SetOp,
): Promise<Changed[]> {
  const losesCopies = isDrbd(from) && diskIdOf(template) === 'volume'
  if (losesCopies) await checkPrimaryCopies(ctx, view, op)
  if (!(await shutdownDisks(ctx, view)))
    throw new OpExecError('Cannot shutdown instance disks, unable to proceed with disk template conversion')
  ctx.log.say(`Converting disk template from '${from}' to '${template}'`)
  if (secondary !== undefined && diskIdOf(from) === 'volume') {
    await plainToDrbd(ctx, view, planned, secondary)
    const mirrored = await reread(ctx, view)
    if (!(await waitForSync(ctx, mirrored, { oneshot: !op.wait_for_sync }))) throw degraded()
    await putDown(ctx, mirrored, mirrored.disks, op)
    return [['disk_template', template]]
  }
  if (losesCopies) {
    await drbdToPlain(ctx, view, planned)
    return [['disk_template', template]]
  }
  const all = await withIdentities(ctx, planned)
  const there = await viewOn(ctx, view, secondary)
  // Among disks of several templates, some may already have the wanted one.
  const pairs = view.disks.flatMap((old, index) => {
    const disk = all[index]
    return disk === undefined || (from === 'mixed' && old.dev_type === template) ? [] : [{ index, old, disk }]
  })
  const [disks, before] = [pairs.map(({ disk }) => disk), pairs.map(({ old }) => old)]
  ctx.log.say(`Generating new '${template}' disk template...`)
  pairs.forEach(({ disk, index }) => ctx.log.say(`* disk ${index}, size ${sizeText(disk.size)}`))
  await whileActive(ctx, view, before, async () => {
    ctx.log.say(`Creating new empty disks of type '${template}'...`)
    await createDisks(ctx, there, disks, { undone: () => returnPorts(ctx, disks) })
    ctx.log.say(`Populating the new empty disks of type '${template}'...`)
    await copyData(ctx, view, there, template, pairs)
  })
  ctx.log.say(`Detaching old disks (${from}) from the instance and removing them from cluster config`)
  ctx.log.say(`Adding new disks (${template}) to cluster config and attaching them to the instance`)
  await exchange(ctx, view, there, pairs)
  const converted = await reread(ctx, view)
  // The data is on the new disks, even if these are incomplete otherwise. The old disks are no longer in the configuration.
  const isWhole = !op.wait_for_sync || (await waitForSync(ctx, converted, { disks }))
  if (isWhole) await putDown(ctx, converted, disks, op)
  ctx.log.say(`Removing old block devices of type '${from}'...`)
  await removeDisks(ctx, { ...view, disks: before }, before)
  if (!isWhole) throw degraded()
  return [['disk_template', template]]
}

interface Pair {
  readonly index: number
  readonly old: Disk
  readonly disk: Disk
}

/** If the configuration does not take the new disks, only the old ones remain. */
async function exchange(
  ctx: UnitContext,
  { instance: { uuid } }: InstanceView,
  there: InstanceView,
  pairs: readonly Pair[],
): Promise<void> {
  const disks = pairs.map(({ disk }) => disk)
  const undo = new Undo(ctx)
  undo.push('return the ports of the new disks', async () => {
    await returnPorts(ctx, disks)
    return { ok: true, payload: null }
  })
  undo.push(`remove the new disks ${disks.map(diskText).join(', ')}`, async () =>
    (await removeDisks(ctx, there, disks))
      ? { ok: true, payload: null }
      : { ok: false, error: 'the log says why', offline: false },
  )
  const changes = [
    ...pairs.map(({ old }) => change('removeInstanceDisk', uuid, old.uuid)),
    ...pairs.map(({ disk, index }) => change('addInstanceDisk', uuid, disk, index)),
  ]
  await undo.around(async () => void (await ctx.config.change(changes, areNoted(ctx, disks))))
}

/** The copies on the other node are deleted, so those on the primary node must have all data. */
async function checkPrimaryCopies(ctx: UnitContext, view: InstanceView, { force }: SetOp): Promise<void> {
  const { disks, instance, primary } = view
  const { ok } = await assembleDisks(ctx, view, { disks, ignoreSecondaries: true })
  const incomplete = ok ? await incompleteOnPrimary(ctx, view) : disks
  if (incomplete.length === 0) return
  const names = incomplete.map((disk) => `disk/${disks.indexOf(disk)}`).join(', ')
  const text = `The copies of ${names} on node ${primary.name} are not complete, or cannot be looked at`
  if (force) return ctx.log.warning(`${text}; the other copies are deleted nevertheless, because this was forced`)
  await shutdownDisks(ctx, view)
  throw new OpExecError(
    `${text}, and the other copies would be deleted; "gnt-instance activate-disks --wait-for-sync ${instance.name}" ` +
      `completes them from the other node, "gnt-instance repair ${instance.name}" mends them`,
  )
}

/** New disks are active since they were made, but another node may need them next. Mirrors stay active until they are in sync. */
async function putDown(ctx: UnitContext, view: InstanceView, disks: readonly Disk[], op: SetOp): Promise<void> {
  const synced = op.wait_for_sync || !disks.some(({ dev_type }) => isMirroredInside(dev_type))
  if (synced) await shutdownDisks(ctx, view, { disks })
  else
    ctx.log.warning(
      'Not shutting down the new disks even if the instance is not supposed to be running because no wait for sync mode was requested',
    )
}

/** Mirrors and mapped disks have a readable device only while they are active. */
async function whileActive(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly Disk[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    if (!(await assembleDisks(ctx, view, { disks })).ok) throw new OpExecError('Cannot activate the disks to copy them')
    await work()
  } finally {
    await shutdownDisks(ctx, view, { disks })
  }
}

/** The instance as its new disks see it. */
async function viewOn(ctx: UnitContext, view: InstanceView, secondary: Node | undefined): Promise<InstanceView> {
  if (secondary === undefined) return { ...view, secondaries: [] }
  return { ...view, config: await withNodes(ctx, view, [secondary.uuid]), secondaries: [secondary] }
}

async function copyData(
  ctx: UnitContext,
  view: InstanceView,
  there: InstanceView,
  template: DiskTemplate,
  pairs: readonly Pair[],
): Promise<void> {
  const disks = pairs.map(({ disk }) => disk)
  for (const { index, old, disk: target } of pairs) {
    ctx.log.say(` - copying data from disk ${index} (${old.dev_type}), size ${sizeText(target.size)}`)
    const pair = [diskDictOf(view, old), diskDictOf(there, target)] as const
    const result = await ctx.nodes.attempt(view.primary, 'blockdev_convert', [...pair])
    if (result.ok) continue
    ctx.log.say(` - ERROR: Could not copy disk '${String(old.logical_id[1])}' to '${String(target.logical_id[1])}'`)
    ctx.log.info('Some disks failed to copy')
    ctx.log.info('The instance will not be affected, aborting operation')
    ctx.log.info(`Removing newly created disks of type '${template}'...`)
    if (await removeDisks(ctx, there, disks)) ctx.log.info('Newly created disks removed successfully')
    await returnPorts(ctx, disks)
    throw new OpExecError(`Error while converting the instance's template: ${result.error}`)
  }
}
