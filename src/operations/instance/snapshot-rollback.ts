// OP_INSTANCE_ROLLBACK_SNAPSHOT: a stopped instance's disks get the data of their snapshots again. The snapshots stay. It is noted that it is
// under way, so that nothing starts from a disk that has only a part of the data.
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { type DiskSnapshot, isSeenByNodes, snapshotDisk } from '../../model/snapshots'
import { isMirroredInside } from '../../model/templates'
import { OpInstanceRollbackSnapshot } from '../../opcodes/snapshot'
import { isUnknownThere } from '../../rpc/node/client'
import { logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkInstanceState, checkNodeOnline, DOWN } from './checks'
import { assembleDisks, incompleteOnPrimary, shutdownDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { type NamedSnapshot, namedSnapshots } from './snapshot'
import { nodeWithSnapshot, noteSnapshots, notedSnapshots } from './snapshots/notes'
import { refuseLostSnapshots } from './snapshots/state'
import { diskDictOf, hookNodes, locksOfInstance, readInstance, reread, type InstanceView } from './view'

export const instanceRollbackSnapshot = logicalUnit(OpInstanceRollbackSnapshot, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    checkNodeOnline(view.primary)
    await checkInstanceState(ctx, view, DOWN, 'cannot roll back its disks')
    const named = await namedSnapshots(ctx, view, op.disks)
    const disks = new Set(named.map(({ index }) => index))
    if (disks.size < named.length)
      throw new OpPrereqError('A disk can be rolled back to one snapshot only', ECODE.INVAL)
    for (const one of named) await checkPossible(ctx, view, one)
    await checkVersion(ctx, view)
    await refuseLostSnapshots(ctx, view, named)
    return { view, named }
  },
  hooks: {
    path: 'instance-rollback-snapshot',
    type: 'INSTANCE',
    env: (ctx, _op, { view }) => instanceHookEnv(ctx, view.instance.uuid),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, _op, { view, named }) {
    const activated = !view.instance.disks_active
    const { ok, view: active } = activated ? await assembleDisks(ctx, view) : { ok: true, view }
    try {
      if (!ok) throw new OpExecError('The disks could not be activated, so nothing was rolled back')
      await checkCopies(ctx, active, named)
      // LVM knows that a snapshot is invalid only while its disk is active.
      if (activated) await refuseLostSnapshots(ctx, active, named)
      await noteRestoring(ctx, named, true)
      for (const one of named) await restore(ctx, active, one)
      await noteRestoring(ctx, named, false)
    } finally {
      if (activated) await shutdownDisks(ctx, await reread(ctx, view))
    }
    return null
  },
})

async function checkPossible(
  ctx: UnitContext,
  view: InstanceView,
  { index, disk, snapshot }: NamedSnapshot,
): Promise<void> {
  const title = `Disk ${index} of instance ${view.instance.name}`
  const { node } = snapshot
  if (!isSeenByNodes(snapshot))
    throw new OpPrereqError(
      `${title}: a snapshot of template '${disk.dev_type}' is rolled back with the tools of its storage, while the instance is stopped`,
      ECODE.INVAL,
    )
  if (node === null || node === view.primary.uuid) return
  const there = await nodeWithSnapshot(ctx, view, snapshot)
  const where = there === undefined ? 'a node that is gone' : `node ${there.name}`
  const way = there === undefined ? '' : `; "gnt-instance failover ${view.instance.name}" makes it the primary node`
  throw new OpPrereqError(`${title}: snapshot '${snapshot.name}' is on ${where}${way}`, ECODE.STATE)
}

/** A node that is not upgraded yet lacks the call. Then it must not be noted that the disks are half rolled back. */
async function checkVersion(ctx: UnitContext, { primary }: InstanceView): Promise<void> {
  const answer = await ctx.nodes.attempt(primary, 'gantry_snapshot_problem', [[]])
  if (isUnknownThere(answer))
    throw new OpPrereqError(
      `Node ${primary.name} runs a version that cannot roll back disks; "gnt-cluster upgrade" brings it up to date`,
      ECODE.STATE,
    )
}

/** A mirror passes each write on to its other side, but not the data that this side lacks. */
async function checkCopies(ctx: UnitContext, view: InstanceView, named: readonly NamedSnapshot[]): Promise<void> {
  const mirrors = named.map(({ disk }) => disk).filter(({ dev_type }) => isMirroredInside(dev_type))
  const [first] = await incompleteOnPrimary(ctx, view, mirrors)
  if (first === undefined) return
  const { index } = named.find(({ disk }) => disk === first) ?? {}
  throw new OpExecError(
    `The copy of disk/${index} on node ${view.primary.name} is not complete, so nothing was rolled back; ` +
      `"gnt-instance activate-disks --wait-for-sync ${view.instance.name}" waits until it is`,
  )
}

/** All disks in one change. */
async function noteRestoring(ctx: UnitContext, named: readonly NamedSnapshot[], restoring: boolean): Promise<void> {
  const noted = await notedSnapshots(
    ctx,
    named.map(({ disk }) => disk),
  )
  await ctx.config.change(
    named.map(({ disk, snapshot }) =>
      noteSnapshots(disk, marked(noted.get(disk.uuid) ?? [], snapshot.name, restoring)),
    ),
  )
}

/** Only the last rollback of a disk counts. */
const marked = (snapshots: readonly DiskSnapshot[], name: string, restoring: boolean): DiskSnapshot[] =>
  snapshots.map(({ restoring: _, ...one }) => (restoring && one.name === name ? { ...one, restoring } : one))

async function restore(ctx: UnitContext, view: InstanceView, { index, disk, snapshot }: NamedSnapshot): Promise<void> {
  const { primary } = view
  ctx.log.say(`Rolling back disk/${index} to snapshot '${snapshot.name}' on node ${primary.name}`)
  const dicts = [diskDictOf(view, disk), diskDictOf(view, snapshotDisk(disk, snapshot))] as const
  const result = await ctx.nodes.attempt(primary, 'gantry_snapshot_restore', [...dicts])
  if (result.ok) return
  throw new OpExecError(
    `Could not roll back disk/${index} of instance ${view.instance.name} to snapshot '${snapshot.name}' on node ${primary.name}: ` +
      `${result.error}; until it is repeated with success, or the snapshot is removed, the instance does not start`,
  )
}
