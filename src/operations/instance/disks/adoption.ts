// Volumes that exist before their instance: they get new names and keep their data. Whatever fails, they are never
// removed, but get their old names back.
import * as path from 'node:path'
import type { Disk, LogicalId, Node } from '../../../model/config'
import { ADOPTABLE_BLOCKDEV_ROOT } from '../../../model/constants/disks'
import { ECODE, OpExecError, OpPrereqError, ReservationError } from '../../../model/errors'
import { diskIdOf, factsOf } from '../../../model/templates'
import { isUnknownThere } from '../../../rpc/node/client'
import type { UnitContext } from '../../unit-context'
import { dataVg, type DiskPlace } from './new-disks'
import { diskDictOf, type InstanceView } from '../view'
import type { CreateOp, Wanted } from '../create/plan'
import { mayAdopt } from './spec'

/** The parameter, only of future disks, that names the volume to adopt. */
const ADOPT = 'adopt'

/**
 * Checks that need no cluster: either all disks are adopted or none, and not by an instance that brings its own data.
 */
export function checkAdoption(op: CreateOp, template: Wanted['template']): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  const adopted = op.disks.filter(({ adopt }) => adopt !== undefined)
  if (adopted.length === 0 && factsOf(template).adoptedOnly !== true) return
  if (adopted.length < op.disks.length && factsOf(template).adoptedOnly !== true)
    throw refuse('Either all disks are adopted or none is')
  if (!mayAdopt(template)) throw refuse(`Disk adoption is not supported for the '${template}' disk template`)
  if (op.iallocator !== undefined) throw refuse('Disk adoption not allowed with an iallocator script')
  if (op.mode !== 'create') throw refuse('Disk adoption not allowed for instance import')
}

export const adopts = ({ disks }: Pick<Wanted, 'disks'>): boolean => disks.some(({ adopt }) => adopt !== undefined)

/** Checks that the volumes are on the node and unused, and that the disks have their sizes. */
export async function withAdopted(ctx: UnitContext, desired: Wanted, place: DiskPlace): Promise<Wanted> {
  if (!adopts(desired)) return desired
  if (factsOf(desired.template).adoptedOnly === true) return withDevices(ctx, desired, place.primary)
  const volumes = desired.disks.map((spec) => `${dataVg(spec, place)}/${spec.adopt ?? ''}`)
  if (new Set(volumes).size < volumes.length)
    throw new OpPrereqError('Duplicate volume names given for adoption', ECODE.INVAL)
  for (const volume of volumes) await reserve(ctx, volume)
  const found = await volumesOn(ctx, place.primary)
  const missing = volumes.filter((volume) => found[volume] === undefined)
  if (missing.length > 0)
    throw new OpPrereqError(
      `Missing logical volume(s): ${missing.join(', ')}; node ${place.primary.name} does not have them`,
      ECODE.INVAL,
    )
  const inUse = volumes.filter((volume) => found[volume]?.[2] === true)
  if (inUse.length > 0)
    throw new OpPrereqError(`Online logical volumes found, cannot adopt: ${inUse.join(', ')}`, ECODE.STATE)
  const disks = desired.disks.map((spec, index) => ({
    ...spec,
    size: Math.floor(Number(found[volumes[index] ?? '']?.[0])),
  }))
  return { ...desired, disks }
}

/** The same for block devices, which need no new name. */
async function withDevices(ctx: UnitContext, desired: Wanted, primary: Node): Promise<Wanted> {
  const devices = desired.disks.map(({ adopt = '' }) => adopt)
  if (new Set(devices).size < devices.length)
    throw new OpPrereqError('Duplicate disk names given for adoption', ECODE.INVAL)
  const sizes = await sizesOfFreeDevices(ctx, devices, primary)
  return { ...desired, disks: desired.disks.map((spec) => ({ ...spec, size: sizes[spec.adopt ?? ''] ?? spec.size })) }
}

/** The sizes of devices that may become disks. */
export async function sizesOfFreeDevices(
  ctx: UnitContext,
  devices: readonly string[],
  primary: Node,
): Promise<Readonly<Record<string, number>>> {
  await checkDevicesFree(ctx, devices, primary)
  const results = await ctx.nodes.many([primary], 'bdev_sizes', [devices])
  const sizes = ctx.nodes.raise(results, primary, `Cannot get block device information from node ${primary.name}`)
  const missing = devices.filter((device) => sizes[device] === undefined)
  if (missing.length > 0)
    throw new OpPrereqError(
      `Missing block device(s): ${missing.join(', ')}; node ${primary.name} does not have them`,
      ECODE.INVAL,
    )
  return sizes
}

/**
 * Checks that devices are in allowed places, and that neither a disk of the cluster nor the node itself uses them, under whatever name.
 */
async function checkDevicesFree(ctx: UnitContext, devices: readonly string[], node: Node): Promise<void> {
  const strange = devices.filter((one) => path.posix.normalize(one) !== one || !one.startsWith(ADOPTABLE_BLOCKDEV_ROOT))
  if (strange.length > 0)
    throw new OpPrereqError(
      `Device node(s) ${strange.join(', ')} lie outside ${ADOPTABLE_BLOCKDEV_ROOT} and cannot be adopted`,
      ECODE.INVAL,
    )
  const { disks } = await ctx.config.read({ instances: 'all' })
  const taken = Object.values(disks).find(
    ({ dev_type, logical_id: [, device] }) => diskIdOf(dev_type) === 'device' && devices.some((one) => one === device),
  )
  if (taken !== undefined)
    throw new OpPrereqError(
      `Block device ${String(taken.logical_id[1])} is the disk of another instance already`,
      ECODE.NOTUNIQUE,
    )
  const others = Object.values(disks).flatMap(({ dev_type, logical_id: [, device] }) =>
    diskIdOf(dev_type) === 'device' ? [String(device)] : [],
  )
  await checkNumbers(ctx, devices, others, node)
}

async function checkNumbers(
  ctx: UnitContext,
  devices: readonly string[],
  others: readonly string[],
  node: Node,
): Promise<void> {
  const result = await ctx.nodes.attempt(node, 'gantry_devices_seen', [devices, others])
  // Nodes of Ganeti, and of older releases, cannot tell.
  if (isUnknownThere(result)) return
  if (!result.ok)
    throw new OpPrereqError(`Cannot look at block devices of node ${node.name}: ${result.error}`, ECODE.ENVIRON)
  const observed = result.payload
  for (const [index, device] of devices.entries()) {
    const { numbers, held = null } = observed[device] ?? {}
    if (numbers === undefined) continue
    const same = [...others, ...devices.slice(0, index)].find((other) => observed[other]?.numbers === numbers)
    if (same !== undefined)
      throw new OpPrereqError(
        `Block devices ${device} and ${same} are the same device of node ${node.name}, so they cannot be two disks: name another device`,
        ECODE.NOTUNIQUE,
      )
    if (held !== null)
      throw new OpPrereqError(
        `Block device ${device} of node ${node.name} cannot become a disk: ${held}; free it there, or name another device`,
        ECODE.STATE,
      )
  }
}

async function reserve(ctx: UnitContext, volume: string): Promise<void> {
  try {
    await ctx.env.wconfd.reserveLV(ctx.env.client, volume)
  } catch (error) {
    if (!(error instanceof ReservationError)) throw error
    throw new OpPrereqError(`LV named ${volume} used by another instance`, ECODE.NOTUNIQUE)
  }
}

const volumesOn = (ctx: UnitContext, node: Node) =>
  ctx.nodes.require(node, `Cannot get LV information from node ${node.name}`, ECODE.ENVIRON, 'lv_list', [[]])

/** Disks before adoption: they name their volume, so that nobody removes it. */
export const toBeAdopted = (disks: readonly Disk[], { disks: specs }: Pick<Wanted, 'disks'>): Disk[] =>
  disks.map((disk, index) => {
    const adopt = specs[index]?.adopt
    // A device keeps its name, and is never deleted.
    return adopt === undefined || diskIdOf(disk.dev_type) === 'device'
      ? disk
      : { ...disk, params: { ...disk.params, [ADOPT]: adopt } }
  })

const oldId = (disk: Disk): LogicalId | undefined => {
  const adopt = disk.params?.[ADOPT]
  return disk.forthcoming === true && adopt !== undefined ? [disk.logical_id[0] ?? '', String(adopt)] : undefined
}

export const isAdopted = (disk: Disk): boolean => oldId(disk) !== undefined

/** Renames the volumes to the names of their disks. */
export async function adoptVolumes(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<void> {
  if (disks.some(({ dev_type }) => diskIdOf(dev_type) === 'device')) return
  const pairs = disks.map((disk) => {
    const before = oldId({ ...disk, forthcoming: true }) ?? disk.logical_id
    return [diskDictOf(view, { ...disk, logical_id: before }), disk.logical_id] as const
  })
  const result = await ctx.nodes.attempt(view.primary, 'blockdev_rename', [pairs.map(([dict, id]) => [dict, id])])
  if (!result.ok) throw new OpExecError(`Failed to rename adopted LVs: ${result.error}`)
}

/** Gives renamed volumes their old names back. Returns whether all of them have these again. */
export async function giveBack(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<boolean> {
  let ok = true
  for (const disk of disks) {
    const before = oldId({ ...disk, forthcoming: true })
    if (before === undefined) continue
    const there = await ctx.nodes.attempt(view.primary, 'blockdev_find', [diskDictOf(view, disk)])
    // It still has, or has again, the user's name.
    if (there.ok && there.payload === null) continue
    const back = await ctx.nodes.attempt(view.primary, 'blockdev_rename', [[[diskDictOf(view, disk), before]]])
    if (back.ok) continue
    const [vg, name] = [String(disk.logical_id[0]), String(disk.logical_id[1])]
    ctx.log.warning(
      `Volume ${vg}/${name} on node ${view.primary.name} could not get its name ${String(before[1])} back: ${back.error}`,
    )
    ok = false
  }
  return ok
}
