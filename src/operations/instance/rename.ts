// OP_INSTANCE_RENAME: gives a stopped instance another name, and its file-based disks another folder.
import * as path from 'node:path'
import { change } from '../../config/changes'
import { ECODE, OpPrereqError } from '../../model/errors'
import { isReserved } from '../../model/instance'
import { OpInstanceRename } from '../../opcodes/instance'
import { checkNameIsFree } from '../free-name'
import { exclusive, logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkInstanceState, checkNodeOnline, NOT_RUNNING } from './checks'
import { noteOwner, removeDirectories } from './disks/files'
import { moveFiles, type MovedFile } from './disks/move-files'
import { shutdownDisks, startDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { newAddress, newName } from './create/resolve'
import { refuseSnapshots } from './snapshots/notes'
import { dictOf, hookNodes, locksOfInstance, namedInstance, readInstance, reread, type InstanceView } from './view'
import { factsOf } from '../../model/templates'

const instanceLocks = locksOfInstance(['node', 'node-res'])

export const instanceRename = logicalUnit(OpInstanceRename, {
  async locks(op, ctx) {
    if (op.ip_check && !op.name_check) throw new OpPrereqError('IP address check requires a name check', ECODE.INVAL)
    const { object } = await namedInstance(ctx, op)
    const name = await newName(ctx, op.new_name, op.name_check)
    if (op.name_check) ctx.note({ new_name: name })
    await checkNameIsFree(ctx, name, object.uuid)
    return { instance: exclusive([...new Set([object.name, name])]) }
  },
  declare: instanceLocks.declare,
  async check(ctx, op) {
    const view = await readInstance(ctx, op, 'real or reserved')
    if (!isReserved(view.instance)) await checkNothingInTheWay(ctx, view)
    const name = await newName(ctx, op.new_name, op.name_check)
    if (op.name_check) await newAddress(ctx, op.new_name, op.ip_check)
    // Somebody may take the name until its lock is held.
    await checkNameIsFree(ctx, name, view.instance.uuid)
    return { view, name }
  },
  hooks: {
    path: 'instance-rename',
    type: 'INSTANCE',
    env: (ctx, _op, { view, name }) => instanceHookEnv(ctx, view.instance.uuid, { INSTANCE_NEW_NAME: name }),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, op, { view, name }) {
    const oldName = view.instance.name
    if (name === oldName) return name
    const moved = movedFiles(view, name)
    const disks = moved.map(({ to }) => to)
    const record = (): Promise<unknown> =>
      ctx.config.change(
        [change('renameInstance', view.instance.uuid, name, disks)],
        async () => (await reread(ctx, view)).instance.name === name,
      )
    if (isReserved(view.instance)) {
      await record()
      return name
    }
    await moveFiles(ctx, view, moved, `Cannot rename instance ${oldName}`, record)
    const renamed = await reread(ctx, view)
    await removeDirectories(ctx, view, view.disks, renamed.disks)
    const active = await startDisks(ctx, renamed)
    try {
      await tellDisksAndGuest(ctx, active, oldName, op.debug_level ?? 0)
    } finally {
      await shutdownDisks(ctx, await reread(ctx, view))
    }
    return name
  },
})

async function checkNothingInTheWay(ctx: UnitContext, view: InstanceView): Promise<void> {
  checkNodeOnline(view.primary)
  await checkInstanceState(ctx, view, NOT_RUNNING, 'cannot rename')
  const moved = view.disks.filter((disk) => factsOf(disk.dev_type).namedAfterInstance === true)
  await refuseSnapshots(ctx, view, moved, 'the folder with them cannot get the new name')
}

/** Disk files are in a folder with the instance's name. */
function movedFiles(view: InstanceView, name: string): MovedFile[] {
  return view.disks
    .filter((disk) => factsOf(disk.dev_type).namedAfterInstance === true)
    .map((disk) => {
      const [driver = '', file] = disk.logical_id
      const folder = path.posix.dirname(path.posix.dirname(String(file)))
      return {
        from: disk,
        to: { ...disk, logical_id: [driver, `${folder}/${name}/${path.posix.basename(String(file))}`] },
      }
    })
}

async function tellDisksAndGuest(ctx: UnitContext, view: InstanceView, oldName: string, debug: number): Promise<void> {
  const { instance, primary } = view
  await noteOwner(ctx, view)
  if (instance.os === '') return
  const result = await ctx.nodes.attempt(primary, 'instance_run_rename', [dictOf(view), oldName, debug])
  if (!result.ok)
    ctx.log.warning(
      `Could not run OS rename script for instance ${instance.name} on node ${primary.name} (but the instance has been renamed in Ganeti): ${result.error}`,
    )
}
