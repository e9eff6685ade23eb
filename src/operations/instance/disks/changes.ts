// Changes to an existing instance's disks: adds and removes them with their data, renames them, makes them read-only.
import { change } from '../../../config/changes'
import { errorText } from '../../../lib/system-failure'
import { fillIPolicy, fillNdParams } from '../../../config/filled'
import { diskTemplateOf, shownPlace } from '../../../config/lookup'
import { MAX_DISKS } from '../../../model/constants/disks'
import type { Disk, DiskMode } from '../../../model/config'
import { onlyForMaking, OWN_NAMES } from '../../../model/disk-parameters'
import { ECODE, OpExecError, OpPrereqError } from '../../../model/errors'
import { DISK_PARAM_NAMES, type DiskParams } from '../../../opcodes/types'
import type { Change, UnitContext } from '../../unit-context'
import { checkInstanceState, NOT_RUNNING, refuseReadOnly, usesDisks } from '../checks'
import { indexForNew, indexOfDevice, type DeviceChange } from '../parameters/device-changes'
import { createDisks, removeDisks, tellDisk, wipeDisks } from './files'
import { sizesOfFreeDevices } from './adoption'
import { areNoted } from './noted'
import { newDisks, returnPorts, withIdentities } from './new-disks'
import {
  changedOwn,
  checkDiskParams,
  checkNames,
  checkSpindles,
  checkTemplate,
  diskSpec,
  type DiskSpec,
  fileStorageFolder,
  ownParams,
} from './spec'
import { checkOutside } from './outside'
import { checkVolumeSpace, volumeNeeds } from './volume-space'
import { waitForSync } from './sync'
import { assembleDisks, nodesOf, shutdownDisks } from './activation'
import { checkFileSpace } from './file-space'
import { plugDisk, unplugDisk } from '../parameters/hotplug'
import { attachDisk, checkSyncing, detachDisk, planAttach } from './attach'
import type { Changed, SetOp } from '../parameters/set-op'
import { refuseSnapshots } from '../snapshots/notes'
import { reread, type InstanceView } from '../view'
import { type DiskTemplate, factsOf } from '../../../model/templates'

export type DiskStep =
  | { readonly action: 'add' | 'remove' | 'attach' | 'detach'; readonly disk: Disk; readonly index: number }
  | {
      readonly action: 'modify'
      readonly disk: Disk
      readonly index: number
      readonly fields: { readonly mode?: DiskMode; readonly name?: string | null; readonly params?: Disk['params'] }
      /** Given parameters of its own, or of its provider. */
      readonly own: Readonly<Record<string, unknown>>
    }

/** Changes apply one after the other: an index refers to the list after the earlier changes. */
export async function planDisks(
  ctx: UnitContext,
  view: InstanceView,
  changes: readonly DeviceChange<DiskParams>[],
  op: SetOp,
  live: boolean,
): Promise<DiskStep[]> {
  const disks: Disk[] = [...view.disks]
  const steps: DiskStep[] = []
  for (const one of changes) {
    if (one.action === 'add') steps.push(await planAdd(ctx, view, disks, one, op))
    else if (one.action === 'remove') steps.push(planRemove(disks, one))
    else if (one.action === 'modify') steps.push(planModify(disks, one))
    else if (one.action === 'attach') steps.push(await planAttach(ctx, view, disks, one, op))
    else steps.push({ ...planRemove(disks, one), action: 'detach' })
  }
  await checkAddedSpace(ctx, view, steps, op)
  const modes: (DiskMode | undefined)[] = []
  for (const step of steps)
    modes[step.index] = step.action === 'modify' ? step.fields.mode : step.action === 'add' ? step.disk.mode : undefined
  refuseReadOnly(view.instance, modes)
  if (disks.length > MAX_DISKS)
    throw new OpPrereqError(`Instance has too many disks (${disks.length}), cannot add more`, ECODE.STATE)
  checkNames('disk', disks)
  // Ganeti also detaches a disk to which a running instance writes, so that two instances may write to it.
  const taken = steps.find((step) => step.action === 'remove' || step.action === 'detach')
  const gone = steps.flatMap(({ action, disk }) => (action === 'remove' || action === 'detach' ? [disk] : []))
  const kept = gone.filter(({ uuid }) => view.disks.some((own) => own.uuid === uuid))
  await refuseSnapshots(ctx, view, kept, 'the instance cannot do without it')
  if (!live && taken !== undefined)
    await checkInstanceState(
      ctx,
      view,
      NOT_RUNNING,
      `can't ${taken.action} volume from a running instance without using hotplug`,
    )
  return steps
}

async function checkAddedSpace(ctx: UnitContext, view: InstanceView, steps: readonly DiskStep[], op: SetOp) {
  const added = steps.flatMap(({ action, disk }) => (action === 'add' ? [disk] : []))
  const [first] = added
  if (first === undefined) return
  const place = { cluster: view.config.cluster, node: view.primary, template: first.dev_type }
  const size_mib = added.reduce((sum, { size }) => sum + size, 0)
  await checkFileSpace(ctx, place, size_mib, op.ignore_ipolicy)
  await checkVolumeSpace(ctx, view.config, nodesOf(view, first), volumeNeeds(added))
}

async function planAdd(
  ctx: UnitContext,
  view: InstanceView,
  disks: Disk[],
  { at, params }: DeviceChange<DiskParams>,
  op: SetOp,
): Promise<DiskStep> {
  const index = indexForNew('disk', disks.length, at)
  checkSyncing(view, 'add', op)
  const template = templateFor(view, params)
  checkTemplate(view.config.cluster, template)
  if (params.size === undefined && params.adopt === undefined)
    throw new OpPrereqError("Required disk parameter 'size' missing", ECODE.INVAL)
  const { config, primary } = view
  const desired = diskSpec(params, template)
  const spec = desired.adopt === undefined ? desired : await adopted(ctx, view, desired, template)
  await checkOutside(ctx, [spec], { config, primary, hypervisor: view.instance.hypervisor, template })
  checkSpindles([spec], factsOf(template).exclusive === true && fillNdParams(config, primary).exclusive_storage)
  const folder = fileStorageFolder(config.cluster, template, view.instance.name, op.file_storage_dir)
  const place = { config, primary, secondary: view.secondaries[0], folder }
  const [disk] = newDisks(ctx, [spec], template, place, { driver: op.file_driver, first: index })
  if (disk === undefined) throw new OpPrereqError('Missing disk', ECODE.FAULT)
  disks.splice(index, 0, disk)
  return { action: 'add', disk, index }
}

/** A device that exists has its own size. */
async function adopted(
  ctx: UnitContext,
  { primary }: InstanceView,
  spec: DiskSpec,
  template: DiskTemplate,
): Promise<DiskSpec> {
  const { adopt = '' } = spec
  if (factsOf(template).adoptedOnly !== true)
    throw new OpPrereqError('Disks of an instance that exists are made; only a new one can adopt volumes', ECODE.INVAL)
  const { [adopt]: size = 0 } = await sizesOfFreeDevices(ctx, [adopt], primary)
  return { ...spec, size }
}

/** The template of the instance's other disks, or the cluster's default if there are none. */
function templateFor(view: InstanceView, params: DiskParams): DiskTemplate {
  const input = params['dev_type']
  const own = diskTemplateOf(view.config, view.instance)
  if (own === 'mixed') throw new OpPrereqError('Disks of mixed templates cannot be added to', ECODE.STATE)
  const { enabled_disk_templates: enabled } = view.config.cluster
  const desired = typeof input === 'string' ? enabled.find((template) => template === input) : own
  if (desired === undefined)
    throw new OpPrereqError(`Disk template '${String(input)}' is not enabled in cluster`, ECODE.INVAL)
  if (factsOf(desired).empty !== true) return desired
  const first = enabled.find((template) => factsOf(template).empty !== true)
  if (first === undefined)
    throw new OpPrereqError('Cannot add a disk to an instance with no disks and no default disk template', ECODE.STATE)
  return first
}

function planRemove(disks: Disk[], { at }: DeviceChange<DiskParams>) {
  const index = indexOfDevice('disk', disks, at)
  const [disk] = disks.splice(index, 1)
  if (disk === undefined) throw new OpPrereqError(`Cannot find disk with identifier ${at}`, ECODE.INVAL)
  return { action: 'remove' as const, disk, index }
}

function planModify(disks: Disk[], { at, params }: DeviceChange<DiskParams>): DiskStep {
  const index = indexOfDevice('disk', disks, at)
  const disk = disks[index]
  if (disk === undefined) throw new OpPrereqError(`Cannot find disk with identifier ${at}`, ECODE.INVAL)
  if (params.size !== undefined) throw new OpPrereqError('Disk size change not possible, use grow-disk', ECODE.INVAL)
  const own =
    factsOf(disk.dev_type).ownParams === true ? changedParams(disk, params) : changedLevel(disk, params, index)
  const name = params.name?.toLowerCase() === 'none' ? null : params.name
  const fields = {
    ...(params.mode && { mode: params.mode }),
    ...(name !== undefined && { name }),
    ...(Object.keys(own.given).length > 0 && { params: own.all }),
  }
  const { name: _, ...unnamed } = disk
  disks[index] = {
    ...unnamed,
    ...(fields.params && { params: fields.params }),
    ...(fields.mode && { mode: fields.mode }),
    ...(typeof name === 'string' && { name }),
  }
  return { action: 'modify', disk, index, fields, own: own.given }
}

interface ChangedParams {
  readonly given: Readonly<Record<string, unknown>>
  readonly all: Disk['params']
}

/** Parameters that count when the disk is activated next. */
function changedLevel(disk: Disk, params: DiskParams, index: number): ChangedParams {
  checkDiskParams(params, ['mode', 'name', ...OWN_NAMES])
  const made = Object.keys(params).find(onlyForMaking)
  const all = changedOwn(disk, params)
  if (made !== undefined)
    throw new OpPrereqError(
      `'${made}' says how a disk is made, and this one exists: "gnt-instance recreate-disks --disk ${index}:${made}=VALUE" makes it anew, without its data`,
      ECODE.INVAL,
    )
  const { mode: _mode, name: _name, ...input } = params
  return { given: input, all }
}

/** The provider's parameters that its scripts get from now on. `default` removes one. */
function changedParams(disk: Disk, params: DiskParams): ChangedParams {
  const { mode: _mode, name: _name, ...others } = params
  const known = DISK_PARAM_NAMES.find((name) => Object.hasOwn(others, name))
  if (known !== undefined)
    throw new OpPrereqError(`Disk parameter '${known}' of a disk that exists cannot be changed`, ECODE.INVAL)
  const input = ownParams(params)
  const all = Object.entries({ ...disk.params, ...input }).filter(([, value]) => value !== 'default')
  return { given: input, all: Object.fromEntries(all) }
}

/** Carries out the steps. Returns the changes. */
export async function applyDisks(
  ctx: UnitContext,
  view: InstanceView,
  steps: readonly DiskStep[],
  op: SetOp,
  live: boolean,
): Promise<Changed[]> {
  const changed: Changed[] = []
  let now = view
  for (const step of steps) {
    if (!('fields' in step)) {
      changed.push(...(await applyStep(ctx, now, step, op, live)))
    } else {
      const { params, ...plain } = step.fields
      const fields: Readonly<Record<string, unknown>> = { ...plain, ...(params && { params }) }
      await ctx.config.change([change('patchDisk', step.disk.uuid, fields)])
      if (params && factsOf(step.disk.dev_type).ownParams !== true && now.instance.disks_active)
        ctx.log.info(
          `The parameters of disk ${step.index} count when it is activated next, with the next start of the instance for example`,
        )
      const displayed = { ...plain, ...prefixed('params:', step.own) }
      changed.push(...Object.entries(displayed).map(([key, value]): Changed => [`disk.${key}/${step.index}`, value]))
    }
    now = await reread(ctx, now)
  }
  return changed
}

const prefixed = (prefix: string, values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [prefix + key, value]))

function applyStep(
  ctx: UnitContext,
  view: InstanceView,
  { action, disk, index }: Exclude<DiskStep, { action: 'modify' }>,
  op: SetOp,
  live: boolean,
): Promise<Changed[]> {
  switch (action) {
    case 'add':
      return addDisk(ctx, view, disk, index, op, live)
    case 'remove':
      return removeDisk(ctx, view, disk, index, live)
    case 'attach':
      return attachDisk(ctx, view, disk, index, op, live)
    case 'detach':
      return detachDisk(ctx, view, disk, index, live)
  }
}

/** Before a disk is made, it is in the configuration as forthcoming, so that no file is lost if the job dies. */
async function addDisk(
  ctx: UnitContext,
  view: InstanceView,
  planned: Disk,
  index: number,
  op: SetOp,
  live: boolean,
): Promise<Changed[]> {
  const { uuid } = view.instance
  const [disk = planned] = await withIdentities(ctx, [planned])
  const attach = (one: Disk, replace: boolean): Change => change('addInstanceDisk', uuid, one, index, replace)
  tellDisk(ctx, disk, index)
  await ctx.config
    .change([attach({ ...disk, forthcoming: true }, false)], areNoted(ctx, [disk]))
    .catch(async (error: unknown) => {
      if (await ctx.config.isSettled()) await returnPorts(ctx, [disk])
      throw error
    })
  const detach = (): Promise<unknown> => ctx.config.change([change('removeInstanceDisk', uuid, disk.uuid)])
  const undone = async (whole: boolean): Promise<void> => {
    if (whole) await detach()
    else ctx.log.warning(`Disk ${index} stays in the configuration, because it could not be removed`)
  }
  await createDisks(ctx, view, [disk], { undone })
  await ctx.config.change([attach(disk, true)])
  const added = await reread(ctx, view)
  const unmake = (): Promise<unknown> => ctx.config.change([attach({ ...disk, forthcoming: true }, true)])
  if (view.config.cluster.prealloc_wipe_disks) await wipeOrTakeBack(ctx, added, disk, { unmake, detach })
  if (op.wait_for_sync && !(await waitForSync(ctx, added, { disks: [disk] })))
    throw new OpExecError('There are some degraded disks for this instance')
  const text = `add:size=${disk.size},mode=${disk.mode}`
  if (!(await usesDisks(ctx, added))) {
    // The disk is active since it was made, but another node may need it next.
    await shutdownDisks(ctx, added, { disks: [disk] })
    return [[`disk/${index}`, text]]
  }
  const { ok, links } = await assembleDisks(ctx, added, { disks: [disk] })
  if (!ok) throw new OpExecError(`Can't activate new disk ${index}`)
  return [[`disk/${index}`, text], ...(live ? [await plugDisk(ctx, added, disk, links[0], index)] : [])]
}

/** The configuration says that the disk is not there before it goes. If it does not take that change, the disk stays, and its data is not wiped. */
async function wipeOrTakeBack(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  { unmake, detach }: { unmake(): Promise<unknown>; detach(): Promise<unknown> },
): Promise<void> {
  try {
    await wipeDisks(ctx, view, [disk])
  } catch (error) {
    const failed = (failure: unknown): void =>
      ctx.log.warning(
        `A new disk of ${view.instance.name} stays, and is not wiped: ${errorText(failure)}`,
        "remove it with 'gnt-instance modify --disk N:remove'",
      )
    await unmake()
      .then(async () => ((await removeDisks(ctx, view, [disk])) ? detach() : undefined))
      .catch(failed)
    throw error
  }
}

async function removeDisk(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  index: number,
  live: boolean,
): Promise<Changed[]> {
  const unplugged = live ? [await unplugDisk(ctx, view, disk, index, 'removed')] : []
  await shutdownDisks(ctx, view, { disks: [disk] })
  if (!(await removeDisks(ctx, view, [disk])))
    ctx.log.warning(`Data of disk ${index} may be left on node ${view.primary.name}: ${shownPlace(disk)}`)
  await ctx.config.change([change('removeInstanceDisk', view.instance.uuid, disk.uuid)])
  return [[`disk/${index}`, 'remove'], ...unplugged]
}

export const groupPolicy = (view: InstanceView) =>
  fillIPolicy(view.config.cluster, view.config.nodegroups[view.primary.group])
