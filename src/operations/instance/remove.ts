// OP_INSTANCE_REMOVE: stops the instance, deletes its disks, and removes it from the configuration.
import { change } from '../../config/changes'
import { OpExecError } from '../../model/errors'
import { isReserved } from '../../model/instance'
import { OpInstanceRemove } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import { removeDisks } from './disks/files'
import { instanceHookEnv } from './hook-env'
import { stopOrphanGuest } from './moves/orphan-guest'
import { notePossibleLocations, possibleLocations } from './moves/possible-locations'
import { deleteAllSnapshots, forgetAllSnapshots } from './snapshots/notes'
import { dictOf, hookNodes, locksOfInstance, readInstance, type InstanceView } from './view'
import type { UnitContext } from '../unit-context'
import { waitForStop } from './wait-for-stop'

export const instanceRemove = logicalUnit(OpInstanceRemove, {
  ...locksOfInstance(['node', 'node-res']),
  check: (ctx, op) => readInstance(ctx, op, 'all'),
  hooks: {
    path: 'instance-remove',
    type: 'INSTANCE',
    env: (ctx, op, view) => instanceHookEnv(ctx, view.instance.uuid, { SHUTDOWN_TIMEOUT: op.shutdown_timeout }),
    nodes: (_ctx, _op, view) => ({ pre: [view.config.cluster.master_node], post: hookNodes(view).post }),
  },
  async run(ctx, op, view) {
    const { instance, primary } = view
    // It never ran, but a creation that died may have made its disks.
    if (instance.forthcoming !== true) {
      const args = [dictOf(view), op.shutdown_timeout, ctx.reason] as const
      const result = await waitForStop(
        ctx,
        { name: instance.name, limit_s: op.shutdown_timeout },
        ctx.nodes.attempt(primary, 'instance_shutdown', [...args]),
      )
      if (!result.ok && !op.ignore_failures)
        throw new OpExecError(
          `Could not shutdown instance '${instance.name}' on node '${primary.name}': ${result.error}`,
        )
      if (!result.ok) ctx.log.say(`Warning: can't shutdown instance: ${result.error}`)
    }
    await removeInstance(ctx, view, op.ignore_failures)
    return null
  },
})

/** Removes an instance that does not run: its disks, then its records. A reservation has nothing else. */
export async function removeInstance(ctx: UnitContext, view: InstanceView, ignoreFailures: boolean): Promise<void> {
  if (isReserved(view.instance)) {
    await ctx.config.change([change('removeInstance', view.instance.uuid)])
    return
  }
  if (view.instance.forthcoming !== true) await stopOrphanGuest(ctx, view, ignoreFailures)
  // A Ceph image cannot be deleted before its snapshots.
  if (!(await deleteAllSnapshots(ctx, view)) && !ignoreFailures)
    throw new OpExecError("Can't remove the snapshots of the instance's disks")
  if (!(await removeDisks(ctx, view, view.disks))) {
    if (!ignoreFailures) throw new OpExecError("Can't remove instance's disks")
    ctx.log.say("Warning: can't remove instance's disks")
  }
  const noted = await possibleLocations(ctx, view)
  await ctx.config.change([
    change('removeInstance', view.instance.uuid),
    ...notePossibleLocations(view, noted, []),
    ...(await forgetAllSnapshots(ctx, view.disks)),
  ])
}
