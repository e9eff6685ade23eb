// OP_INSTANCE_FAILOVER: stops the instance on its primary node and starts it on another.
import { change } from '../../config/changes'
import { OpExecError } from '../../model/errors'
import { isReserved } from '../../model/instance'
import { DISK_SYNC_DEGRADED_CHECKS } from '../../model/limits/operations'
import { OpInstanceFailover } from '../../opcodes/instance'
import { logicalUnit, type HookEnv } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { assembleDisks, closeDisks, isConsistent, shutdownDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { isIncomplete } from './moves/arrival'
import { cleanUp } from './moves/clean-up'
import { keepsMirrors } from './moves/mirror'
import { moveLocks, planMove, type Move } from './moves/plan'
import { checkRunsNowhereElse, notePossibleLocations, possibleLocations } from './moves/possible-locations'
import { usesDisks } from './checks'
import { startOn, undoStart } from './startup'
import { dictOf, hookNodes, reread } from './view'
import { waitForStop } from './wait-for-stop'

export const instanceFailover = logicalUnit(OpInstanceFailover, {
  ...moveLocks,
  async check(ctx, op) {
    const move = await planMove(ctx, op, { failover: true, fallback: false })
    const { view, target } = move
    const isStarted = view.instance.admin_state === 'up' && !op.cleanup
    // The move itself asks these two nodes.
    if (isStarted) await checkRunsNowhereElse(ctx, view, [view.primary.uuid, target.uuid])
    return move
  },
  hooks: {
    path: 'instance-failover',
    type: 'INSTANCE',
    env: (ctx, op, move) =>
      instanceHookEnv(ctx, move.view.instance.uuid, {
        IGNORE_CONSISTENCY: op.ignore_consistency,
        SHUTDOWN_TIMEOUT: op.shutdown_timeout,
        FAILOVER_CLEANUP: op.cleanup,
        ...moveEnv(move),
      }),
    nodes: (_ctx, _op, { view, target }) => {
      const { pre } = hookNodes(view, [target.uuid])
      return {
        pre: pre.filter((uuid) => uuid !== view.primary.uuid || uuid === view.config.cluster.master_node),
        post: pre,
      }
    },
  },
  async run(ctx, op, move) {
    if (op.cleanup) await cleanUp(ctx, move)
    else await failOver(ctx, move, { timeout_s: op.shutdown_timeout, ignoreConsistency: op.ignore_consistency })
    return null
  },
})

/** Variables for a move's hooks. Only DRBD has secondary nodes, and a move swaps the two nodes. */
export function moveEnv({ view, target }: Move): HookEnv {
  const mirrored = keepsMirrors(view)
  return {
    OLD_PRIMARY: view.primary.name,
    NEW_PRIMARY: target.name,
    OLD_SECONDARY: mirrored ? target.name : '',
    NEW_SECONDARY: mirrored ? view.primary.name : '',
  }
}

export async function failOver(
  ctx: UnitContext,
  move: Move,
  options: { timeout_s: number; ignoreConsistency: boolean },
): Promise<void> {
  const { view, target } = move
  const { instance } = view
  ctx.log.say(`Failover instance ${instance.name}`)
  if (isReserved(instance)) {
    ctx.log.say('Instance is forthcoming, just updating the configuration')
    await ctx.config.change([change('setInstancePrimaryNode', instance.uuid, target.uuid)])
    return
  }
  await checkDisks(ctx, move, options.ignoreConsistency)
  const isStopped = await stopOnSource(ctx, move, options)
  // Shutting down both sides of a mirror also closes them.
  if (!keepsMirrors(view)) await closeDisks(ctx, view, view.primary, true)
  ctx.log.say("* deactivating the instance's disks on source node")
  if (!(await shutdownDisks(ctx, view, { ignorePrimary: true })))
    throw new OpExecError("Can't shut down the instance's disks")
  const noted = await possibleLocations(ctx, view)
  if ((isStopped || view.primary.offline) && noted.includes(target.uuid)) await dropIncomplete(ctx, move)
  const unconfirmed = noted.filter((uuid) => uuid !== target.uuid && uuid !== view.primary.uuid)
  if (!isStopped && instance.admin_state === 'up') unconfirmed.push(view.primary.uuid)
  await ctx.config.change([
    change('setInstancePrimaryNode', instance.uuid, target.uuid),
    ...notePossibleLocations(view, noted, unconfirmed),
  ])
  if (instance.admin_state === 'up') await startOnTarget(ctx, move)
}

async function checkDisks(ctx: UnitContext, move: Move, ignore: boolean): Promise<void> {
  const { view } = move
  if (await usesDisks(ctx, view)) return checkActive(ctx, move, ignore)
  if (ignore || view.primary.offline || !keepsMirrors(view)) {
    ctx.log.say('* not checking disk consistency as instance is not running')
    return
  }
  // Only connected copies know which of them is behind. Who starts the stopped instance on the target would get older data.
  ctx.log.say("* activating the instance's disks to compare them")
  const { view: active } = await assembleDisks(ctx, view, { ignoreSecondaries: true })
  try {
    await checkActive(ctx, { ...move, view: active }, ignore, DISK_SYNC_DEGRADED_CHECKS)
  } catch (error) {
    await shutdownDisks(ctx, await reread(ctx, view))
    ctx.log.hint(
      `gnt-instance activate-disks ${view.instance.name} lets node ${move.target.name} get what it lacks; with --ignore-consistency the instance goes on with the data that is there`,
    )
    throw error
  }
  // Until the end of the failover nobody uses them.
  await shutdownDisks(ctx, await reread(ctx, view))
}

/** `again`: seconds in which copies that were just connected may still become equal. */
async function checkActive(ctx: UnitContext, { view, target }: Move, ignore: boolean, again = 0): Promise<void> {
  ctx.log.say('* checking disk consistency between source and target')
  let left_s = again
  for (const [index, disk] of view.disks.entries()) {
    let isGood = await isConsistent(ctx, view, disk, target)
    for (; !isGood && left_s > 0; left_s--) {
      await ctx.env.clock.sleep(1000)
      isGood = await isConsistent(ctx, view, disk, target)
    }
    if (isGood) continue
    if (view.primary.offline)
      ctx.log.say(`Node ${view.primary.name} is offline, ignoring degraded disk ${index} on target node ${target.name}`)
    else if (!ignore) throw new OpExecError(`Disk ${index} is degraded on target node, aborting failover`)
  }
}

/** Whether the source confirms that it has ended there. */
async function stopOnSource(
  ctx: UnitContext,
  { view }: Move,
  options: { timeout_s: number; ignoreConsistency: boolean },
): Promise<boolean> {
  const { instance, primary } = view
  ctx.log.say('* shutting down instance on source node')
  const args = [dictOf(view), options.timeout_s, ctx.reason] as const
  const result = await waitForStop(
    ctx,
    { name: instance.name, limit_s: options.timeout_s },
    ctx.nodes.attempt(primary, 'instance_shutdown', [...args]),
  )
  if (result.ok) return true
  if (!options.ignoreConsistency && !primary.offline)
    throw new OpExecError(`Could not shutdown instance ${instance.name} on node ${primary.name}: ${result.error}`)
  ctx.log.warning(
    `Could not shutdown instance ${instance.name} on node ${primary.name}, proceeding anyway; please make sure node ${primary.name} is down; error details: ${result.error}`,
  )
  return false
}

/** A guest whose migration never gave it the rest of its memory cannot go on: it starts anew. */
async function dropIncomplete(ctx: UnitContext, { view, target }: Move): Promise<void> {
  if (view.instance.hypervisor !== 'kvm' || !(await isIncomplete(ctx, view, target))) return
  ctx.log.warning(`A part of its memory is lost with node ${view.primary.name}, so it is started anew from its disks`)
  const what = `Could not end the incomplete machine on node ${target.name}`
  await ctx.nodes.call(target, what, 'instance_shutdown', [dictOf(view), 0, ctx.reason])
}

async function startOnTarget(ctx: UnitContext, { view, target }: Move): Promise<void> {
  const { instance } = view
  ctx.log.say(`* activating the instance's disks on target node ${target.name}`)
  const { ok, view: active } = await assembleDisks(ctx, await reread(ctx, view), { ignoreSecondaries: true })
  if (!ok) {
    await shutdownDisks(ctx, active)
    throw new OpExecError("Can't activate the instance's disks")
  }
  ctx.log.say(`* starting the instance on the target node ${target.name}`)
  const result = await startOn(ctx, target, dictOf(active))
  if (result.ok) return
  await undoStart(ctx, active, result)
  throw new OpExecError(`Could not start instance ${instance.name} on node ${target.name}: ${result.error}`)
}
