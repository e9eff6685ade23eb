// Moves disks with their data between instances: a detached disk stays in the configuration until another instance gets
// it.
import { pythonRepr } from '../../../lib/text/python-text'
import * as path from 'node:path'
import { change } from '../../../config/changes'
import { diskTemplateOf } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { Disk } from '../../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../../model/errors'
import type { DiskParams } from '../../../opcodes/types'
import type { UnitContext } from '../../unit-context'
import { indexForNew, type DeviceChange } from '../parameters/device-changes'
import { removeDirectories, sizeText } from './files'
import { moveFiles } from './move-files'
import { newDisks } from './new-disks'
import { diskSpec, fileStorageFolder } from './spec'
import { assembleDisks, shutdownDisks } from './activation'
import { waitForSync } from './sync'
import { plugDisk, unplugDisk } from '../parameters/hotplug'
import type { Changed, SetOp } from '../parameters/set-op'
import { usesDisks } from '../checks'
import { allNodes, reread, type InstanceView } from '../view'
import { factsOf, hasDisks } from '../../../model/templates'

export async function planAttach(
  ctx: UnitContext,
  view: InstanceView,
  disks: Disk[],
  { at, params }: DeviceChange<DiskParams>,
  op: SetOp,
): Promise<{ action: 'attach'; disk: Disk; index: number }> {
  const index = indexForNew('disk', disks.length, at, 'attach')
  checkSyncing(view, 'attach', op)
  const disk = await detachedDisk(ctx, view, params)
  if (disks.some(({ uuid }) => uuid === disk.uuid))
    throw new OpPrereqError(`Disk ${disk.uuid} is given twice`, ECODE.INVAL)
  const own = diskTemplateOf(view.config, view.instance)
  if (disk.dev_type !== own && hasDisks(own))
    throw new OpPrereqError(`Instance has '${own}' template while disk has '${disk.dev_type}' template`, ECODE.INVAL)
  const nodes = allNodes(view).map(({ uuid }) => uuid)
  if (disk.nodes.length > 0 && !nodes.every((uuid) => disk.nodes.includes(uuid)))
    throw new OpPrereqError(
      `Disk nodes are ${listText(disk.nodes)} while the instance's nodes are ${listText(nodes)}`,
      ECODE.INVAL,
    )
  disks.splice(index, 0, disk)
  return { action: 'attach', disk, index }
}

const listText = (uuids: readonly string[]): string => `[${uuids.map(pythonRepr).join(', ')}]`

export function checkSyncing({ instance }: InstanceView, action: 'add' | 'attach', op: SetOp): void {
  if (!op.wait_for_sync && !instance.disks_active)
    throw new OpPrereqError(
      `Can't ${action} a disk to an instance with deactivated disks and --no-wait-for-sync given`,
      ECODE.INVAL,
    )
}

/** Ganeti notices only after it has moved the file that the disk belongs to somebody else. */
async function detachedDisk(ctx: UnitContext, view: InstanceView, params: DiskParams): Promise<Disk> {
  const { uuid, name } = { uuid: undefined, ...params }
  const reference = uuid ?? name
  if (Object.keys(params).length !== 1 || typeof reference !== 'string')
    throw new OpPrereqError('Only one argument is permitted in attach op, either name or uuid', ECODE.INVAL)
  const config = await ctx.config.read({ disks: [reference] })
  const found = recordValues(config.disks).filter((disk) =>
    uuid === undefined ? disk.name === reference : disk.uuid === reference,
  )
  const [disk] = found
  if (disk === undefined)
    throw new OpPrereqError(
      `No disk was found with this ${uuid === undefined ? 'name' : 'UUID'}: ${reference}`,
      ECODE.INVAL,
    )
  if (found.length > 1)
    throw new OpPrereqError(`There are ${found.length} disks with this name: ${reference}; give its uuid`, ECODE.INVAL)
  const owner = recordValues(config.instances).find(({ disks }) => disks.includes(disk.uuid))
  if (owner?.uuid === view.instance.uuid && uuid === undefined)
    throw new OpPrereqError(`disk name '${reference}' already used`, ECODE.NOTUNIQUE)
  if (owner !== undefined)
    throw new OpPrereqError(
      `Disk ${disk.uuid} is attached to instance ${owner.name}; detach it there first`,
      ECODE.STATE,
    )
  return disk
}

/** The file moves into the instance's folder. */
export async function attachDisk(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  index: number,
  op: SetOp,
  live: boolean,
): Promise<Changed[]> {
  const moved = factsOf(disk.dev_type).namedAfterInstance === true ? placeInside(ctx, view, disk, index, op) : disk
  if (moved !== disk) ctx.log.say(`* disk ${index}, size ${sizeText(disk.size)}`)
  await moveFiles(ctx, view, [{ from: disk, to: moved }], 'Failed before attach', () =>
    ctx.config.change(
      [
        ...(moved === disk ? [] : [change('patchDisk', disk.uuid, { logical_id: moved.logical_id })]),
        change('attachInstanceDisk', view.instance.uuid, disk.uuid, index),
      ],
      async () => (await reread(ctx, view)).instance.disks.includes(disk.uuid),
    ),
  )
  const now = await reread(ctx, view)
  const key = `disk/${index}`
  const text: Changed = [key, `attach:size=${disk.size},mode=${disk.mode}`]
  if (op.wait_for_sync && !(await waitForSync(ctx, now, { disks: [moved] })))
    throw new OpExecError(`Failed to sync disks of ${view.instance.name}`)
  if (!(await usesDisks(ctx, now))) return [text]
  const { ok, links } = await assembleDisks(ctx, now, { disks: [moved] })
  if (!ok) return [text, [key, 'assemble:failed']]
  return [text, ...(live ? [await plugDisk(ctx, now, moved, links[0], index)] : [])]
}

function placeInside(ctx: UnitContext, view: InstanceView, disk: Disk, index: number, op: SetOp): Disk {
  const { config, instance, primary } = view
  const folder = fileStorageFolder(config.cluster, disk.dev_type, instance.name, op.file_storage_dir)
  const options = { driver: op.file_driver ?? String(disk.logical_id[0]), first: index }
  const spec = diskSpec({ size: disk.size }, disk.dev_type)
  const [place] = newDisks(ctx, [spec], disk.dev_type, { config, primary, folder }, options)
  return { ...disk, logical_id: place?.logical_id ?? disk.logical_id }
}

/** The file moves out of the instance's folder, so that it survives the instance. */
export async function detachDisk(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  index: number,
  live: boolean,
): Promise<Changed[]> {
  const unplugged = live ? [await unplugDisk(ctx, view, disk, index, 'detached')] : []
  await shutdownDisks(ctx, view, { disks: [disk] })
  const moved = factsOf(disk.dev_type).namedAfterInstance === true ? placeOutside(disk) : disk
  await moveFiles(ctx, view, [{ from: disk, to: moved }], 'Failed before detach', () =>
    ctx.config.change(
      [
        ...(moved === disk ? [] : [change('patchDisk', disk.uuid, { logical_id: moved.logical_id })]),
        change('detachInstanceDisk', view.instance.uuid, disk.uuid),
      ],
      async () => !(await reread(ctx, view)).instance.disks.includes(disk.uuid),
    ),
  )
  const others = view.disks.filter(({ uuid }) => uuid !== disk.uuid)
  await removeDirectories(ctx, view, [disk], others)
  return [[`disk/${index}`, 'detach'], ...unplugged]
}

function placeOutside(disk: Disk): Disk {
  const [driver, file] = disk.logical_id.map(String)
  const { dir, base } = path.posix.parse(file ?? '')
  return { ...disk, logical_id: [driver ?? '', path.posix.join(path.posix.dirname(dir), base)] }
}
