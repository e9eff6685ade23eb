// OP_INSTANCE_SNAPSHOT and OP_INSTANCE_REMOVE_SNAPSHOT: snapshots of an instance's disks, running or not. Each has the
// data that the disk would have if the machine lost its power at that moment.
import { recordValues } from '../../config/records'
import { seconds } from '../../lib/clock'
import type { Disk } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { SNAPSHOTS_PER_DISK_MAX } from '../../model/limits/storage'
import {
  allSnapshots,
  badSnapshotName,
  type DiskSnapshot,
  isSeenByNodes,
  SNAPSHOTS_SECTION,
  snapshotPlace,
  wireName,
} from '../../model/snapshots'
import { diskIdOf, factsOf, isMirroredInside, isMirroredOutside } from '../../model/templates'
import { OpInstanceRemoveSnapshot, OpInstanceSnapshot } from '../../opcodes/snapshot'
import { logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkNodeOnline, usesDisks } from './checks'
import { assembleDisks, incompleteOnPrimary, shutdownDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { indexOfDevice } from './parameters/device-changes'
import { deleteSnapshot, forgetSnapshot, noteSnapshots, notedSnapshots, refuseHalfRestored } from './snapshots/notes'
import { diskDictOf, hookNodes, locksOfInstance, readInstance, reread, type InstanceView } from './view'

interface Asked {
  readonly index: number
  readonly disk: Disk
  readonly snapshot: DiskSnapshot
  /** MiB, if requested. */
  readonly room: number | null
}

export interface NamedSnapshot {
  readonly index: number
  readonly disk: Disk
  readonly snapshot: DiskSnapshot
}

export const instanceSnapshot = logicalUnit(OpInstanceSnapshot, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    checkNodeOnline(view.primary)
    const requested = await askedFor(ctx, view, op)
    await refuseHalfRestored(ctx, view, new Set(requested.map(({ disk }) => disk.uuid)))
    await checkNodeCan(ctx, view, requested)
    return { view, asked: requested }
  },
  hooks: {
    path: 'instance-snapshot',
    type: 'INSTANCE',
    env: (ctx, _op, { view }) => instanceHookEnv(ctx, view.instance.uuid),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, _op, { view, asked: requested }) {
    // Some storage has a device on the node only while the disk is in use, and only an active mirror tells whether its copy is complete.
    const needed = requested.some(
      ({ disk: { dev_type: template } }) => factsOf(template).mapped || isMirroredInside(template),
    )
    const activated = needed && !(await usesDisks(ctx, view))
    const { ok, view: active } = activated ? await assembleDisks(ctx, view) : { ok: true, view }
    try {
      if (!ok) throw new OpExecError('The disks could not be activated, so no snapshot was made')
      await checkCopies(ctx, active, requested)
      await makeAll(ctx, active, requested)
    } finally {
      if (activated) await shutdownDisks(ctx, await reread(ctx, view))
    }
    return null
  },
})

/** Older nodes do not answer: they find out when they make the snapshot. */
async function checkNodeCan(ctx: UnitContext, view: InstanceView, requested: readonly Asked[]): Promise<void> {
  const disks = requested.flatMap(({ disk }) => {
    return isSeenByNodes(snapshotPlace(disk, '') ?? disk) ? [diskDictOf(view, disk)] : []
  })
  if (disks.length === 0) return
  const answer = await ctx.nodes.attempt(view.primary, 'gantry_snapshot_problem', [disks])
  if (answer.ok && answer.payload !== null)
    throw new OpPrereqError(`Instance ${view.instance.name}: ${answer.payload}`, ECODE.STATE)
}

async function askedFor(ctx: UnitContext, view: InstanceView, op: Op<typeof OpInstanceSnapshot>): Promise<Asked[]> {
  checkSomething(op.disks)
  await checkNamesOutside(ctx, view, op)
  const noted = await notedSnapshots(ctx, view.disks)
  const ctime = seconds(ctx.env.clock)
  return op.disks.map(([ident, { snapshot_name: name, snapshot_size: room }], position): Asked => {
    const { index, disk } = diskOf(view, ident)
    const title = `Disk ${index} of instance ${view.instance.name}`
    const bad = badSnapshotName(name)
    if (bad !== undefined) throw new OpPrereqError(bad, ECODE.INVAL)
    const { snapshots } = factsOf(disk.dev_type)
    const place = snapshotPlace(disk, name)
    if (snapshots === undefined || place === undefined)
      throw new OpPrereqError(
        `${title} has no snapshots: storage of disk template '${disk.dev_type}' makes none; "gnt-backup export" copies the disk`,
        ECODE.INVAL,
      )
    if (room !== undefined && (snapshots !== 'beside' || room === 0))
      throw new OpPrereqError(
        room === 0
          ? `${title}: snapshot_size is the room for what changes after it, and cannot be 0`
          : `${title} is of template '${disk.dev_type}', whose snapshots have no size of their own: leave snapshot_size out`,
        ECODE.INVAL,
      )
    const own = noted.get(disk.uuid) ?? []
    const same = op.disks.slice(0, position).filter(([other]) => diskOf(view, other).index === index)
    if (own.some((one) => one.name === name) || same.some(([, other]) => other.snapshot_name === name))
      throw new OpPrereqError(
        `${title} has a snapshot '${name}' already: delete it, or choose another name`,
        ECODE.EXISTS,
      )
    if (own.length + same.length >= SNAPSHOTS_PER_DISK_MAX)
      throw new OpPrereqError(`${title} has ${SNAPSHOTS_PER_DISK_MAX} snapshots already: delete some`, ECODE.NORES)
    const node = isMirroredOutside(disk.dev_type) ? null : view.primary.uuid
    return { index, disk, room: room ?? null, snapshot: { name, ...place, size: disk.size, node, ctime } }
  })
}

/**
 * A provider has one namespace for volumes and snapshots of all instances. So a name to be deleted must really be this
 * snapshot's.
 */
async function checkNamesOutside(
  ctx: UnitContext,
  view: InstanceView,
  op: Op<typeof OpInstanceSnapshot>,
): Promise<void> {
  const outside = op.disks.flatMap(([ident, { snapshot_name: name }]) => {
    const { index, disk } = diskOf(view, ident)
    return diskIdOf(disk.dev_type) === 'provider' ? [{ index, id: JSON.stringify([disk.logical_id[0], name]) }] : []
  })
  if (outside.length === 0) return
  const { disks } = await ctx.config.read({ disks: 'all' })
  const known = [...recordValues(disks), ...allSnapshots(await ctx.config.section(SNAPSHOTS_SECTION))]
  const taken = new Set(known.map(({ logical_id }) => JSON.stringify(logical_id)))
  for (const { index, id } of outside) {
    if (taken.has(id))
      throw new OpPrereqError(
        `Disk ${index} of instance ${view.instance.name}: its provider has a volume or snapshot of this name already; choose another name`,
        ECODE.EXISTS,
      )
    taken.add(id)
  }
}

const checkSomething = (disks: readonly unknown[]): void => {
  if (disks.length === 0)
    throw new OpPrereqError('No snapshot is named: say which disks, as in "--disk 0:snapshot_name=before"', ECODE.INVAL)
}

function diskOf(view: InstanceView, ident: string | number): { index: number; disk: Disk } {
  const index = indexOfDevice('disk', view.disks, ident)
  const disk = view.disks[index]
  if (disk === undefined) throw new OpPrereqError(`Cannot find disk with identifier ${ident}`, ECODE.INVAL)
  return { index, disk }
}

/** A mirror's snapshot is one of its volume on the primary node, which must have all data. */
async function checkCopies(ctx: UnitContext, view: InstanceView, requested: readonly Asked[]): Promise<void> {
  const disks = requested.map(({ disk }) => disk)
  const [first] = await incompleteOnPrimary(ctx, view, disks)
  if (first === undefined) return
  const { index } = requested[disks.indexOf(first)] ?? {}
  throw new OpExecError(
    `The copy of disk/${index} on node ${view.primary.name} is not complete, so no snapshot was made; ` +
      `"gnt-instance activate-disks --wait-for-sync ${view.instance.name}" waits until it is`,
  )
}

/** If one fails, the earlier ones are deleted again. */
async function makeAll(ctx: UnitContext, view: InstanceView, requested: readonly Asked[]): Promise<void> {
  const made: Asked[] = []
  try {
    for (const one of requested) {
      await makeOne(ctx, view, one)
      made.push(one)
    }
  } catch (error) {
    for (const one of made.toReversed()) await deleteOne(ctx, view, one)
    throw error
  }
}

async function makeOne(ctx: UnitContext, view: InstanceView, { index, disk, snapshot, room }: Asked): Promise<void> {
  const { primary } = view
  const { name } = snapshot
  ctx.log.say(`Creating snapshot '${name}' of disk/${index} on node ${primary.name}`)
  const before = (await notedSnapshots(ctx, [disk])).get(disk.uuid) ?? []
  await ctx.config.change([noteSnapshots(disk, [...before, snapshot])])
  const args = [diskDictOf(view, disk), wireName(disk, name), room] as const
  const result = await ctx.nodes.attempt(primary, 'blockdev_snapshot', [...args])
  if (result.ok) return
  await forgetSnapshot(ctx, disk, name)
  throw new OpExecError(
    `Could not make snapshot '${name}' of disk/${index} of instance ${view.instance.name} on node ${primary.name}: ${result.error}`,
  )
}

/** A snapshot that could not be deleted stays noted, so that deleting can be tried again. */
async function deleteOne(
  ctx: UnitContext,
  view: InstanceView,
  { index, disk, snapshot }: NamedSnapshot,
): Promise<boolean> {
  const why = await deleteSnapshot(ctx, view, disk, snapshot)
  if (why === undefined) await forgetSnapshot(ctx, disk, snapshot.name)
  else ctx.log.warning(`Could not remove snapshot '${snapshot.name}' of disk/${index} on ${why}`)
  return why === undefined
}

/** Throws if one of them does not exist. */
export async function namedSnapshots(
  ctx: UnitContext,
  view: InstanceView,
  disks: Op<typeof OpInstanceRemoveSnapshot>['disks'],
): Promise<NamedSnapshot[]> {
  checkSomething(disks)
  const noted = await notedSnapshots(ctx, view.disks)
  return disks.map(([ident, { snapshot_name: name }]): NamedSnapshot => {
    const { index, disk } = diskOf(view, ident)
    const own = noted.get(disk.uuid) ?? []
    const snapshot = own.find((one) => one.name === name)
    if (snapshot !== undefined) return { index, disk, snapshot }
    const has = own.length === 0 ? 'it has none' : `it has ${own.map((one) => one.name).join(', ')}`
    throw new OpPrereqError(
      `Disk ${index} of instance ${view.instance.name} has no snapshot '${name}': ${has}`,
      ECODE.NOENT,
    )
  })
}

export const instanceRemoveSnapshot = logicalUnit(OpInstanceRemoveSnapshot, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    return { view, named: await namedSnapshots(ctx, view, op.disks) }
  },
  hooks: {
    path: 'instance-remove-snapshot',
    type: 'INSTANCE',
    env: (ctx, _op, { view }) => instanceHookEnv(ctx, view.instance.uuid),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, _op, { view, named }) {
    const left: string[] = []
    for (const one of named) {
      ctx.log.say(`Removing snapshot '${one.snapshot.name}' of disk/${one.index}`)
      if (!(await deleteOne(ctx, view, one))) left.push(`'${one.snapshot.name}' of disk/${one.index}`)
    }
    if (left.length > 0)
      throw new OpExecError(
        `These snapshots are still there: ${left.join(', ')}; the warnings say why, and the same command tries again`,
      )
    return null
  },
})
