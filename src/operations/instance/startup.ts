// OP_INSTANCE_STARTUP: activates the disks and starts the instance on its primary node.
import { change } from '../../config/changes'
import type { Node } from '../../model/config'
import { ECODE, OpExecError } from '../../model/errors'
import { isGuestElsewhere } from '../../model/guest-state'
import { OpInstanceStartup } from '../../opcodes/instance'
import type { InstanceDict, InstanceRuntime } from '../../rpc/node/dicts'
import { logicalUnit } from '../logical-unit'
import type { Change, UnitContext } from '../unit-context'
import {
  checkBridges,
  checkInstanceState,
  checkNodeFreeMemory,
  checkNodeOnline,
  hvParamsOf,
  minimumMemory,
  ONLINE,
  runtimeOf,
  USER_DOWN,
} from './checks'
import { shutdownDisks, startDisks } from './disks/activation'
import { shutdownUnusedDisks } from './disks/unused'
import { instanceHookEnv } from './hook-env'
import { checkRunsNowhere, checkRunsNowhereElse } from './moves/possible-locations'
import { refuseHalfRestored } from './snapshots/notes'
import { startOverrides, type StartOverrides } from './parameters/params'
import { dictOf, hookNodes, locksOfInstance, readInstance, reread, type InstanceView } from './view'
import { waitForStop } from './wait-for-stop'

export const instanceStartup = logicalUnit(OpInstanceStartup, {
  ...locksOfInstance(['node-res'], { primaryOnly: true }),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    await checkInstanceState(ctx, view, ONLINE)
    const overrides = await startOverrides(ctx, view, op)
    if (view.primary.offline && op.ignore_offline_nodes) {
      ctx.log.warning('Ignoring offline primary node')
      if (Object.keys({ ...op.hvparams, ...op.beparams }).length > 0)
        ctx.log.warning('Overridden parameters are ignored')
      return { view, overrides, leftover: undefined, runs: false, confirmed: [] }
    }
    checkNodeOnline(view.primary)
    await refuseHalfRestored(ctx, view)
    const { runtime, confirmed } = await checkCanStart(ctx, view, overrides.beparams?.minmem)
    const leftover = leftoverOf(runtime)
    return { view, overrides, leftover, runs: runtime !== undefined && leftover === undefined, confirmed }
  },
  hooks: {
    path: 'instance-start',
    type: 'INSTANCE',
    env: (ctx, op, { view }) => instanceHookEnv(ctx, view.instance.uuid, { FORCE: op.force }),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, op, { view, overrides, leftover, runs, confirmed }) {
    const { instance } = view
    const status = op.no_remember ? [] : [change('setInstanceStatus', instance.uuid, 'up', true, 'admin')]
    await ctx.config.change([...status, ...confirmed])
    if (view.primary.offline) {
      ctx.log.info('Primary node offline, marked instance as started')
      return null
    }
    if (leftover !== undefined) await stopLeftover(ctx, view, leftover === 'forced' ? 0 : op.shutdown_timeout)
    const active = await startDisks(ctx, await reread(ctx, view), { force: op.force, inUse: runs })
    const what = `Could not start instance '${instance.name}'`
    await startInstance(ctx, active, what, { overrides, paused: op.startup_paused, inUse: runs })
    return null
  },
})

/**
 * Checks that it does not run elsewhere and that there is memory, unless it runs here. Returns its state here, and
 * changes for what was learned.
 */
export async function checkCanStart(
  ctx: UnitContext,
  view: InstanceView,
  needed_mib = minimumMemory(view.config, view.instance),
): Promise<{ runtime: InstanceRuntime | undefined; confirmed: Change[] }> {
  await checkBridges(ctx, view.config, view.instance, view.primary)
  const runtime = await runtimeOnPrimary(ctx, view)
  if (runtime !== undefined && !isGuestElsewhere(runtime)) return { runtime, confirmed: [] }
  // A machine that gave its guest away is proof of a migration, even of one that nobody has noted.
  const confirmed = await (runtime === undefined ? checkRunsNowhereElse(ctx, view) : checkRunsNowhere(ctx, view))
  const reason = `starting instance ${view.instance.name}`
  await checkNodeFreeMemory(ctx, view.primary, reason, needed_mib, view.instance.hypervisor, hvParamsOf(view))
  return { runtime, confirmed }
}

/**
 * A process that must be removed before the start. A user's shutdown leaves one, and so does a migration whose target was
 * lost: nobody knows what its guest has written there, so it never goes on from the memory here.
 */
function leftoverOf(runtime: InstanceRuntime | undefined): 'asked' | 'forced' | undefined {
  if (runtime === undefined) return undefined
  if (isGuestElsewhere(runtime)) return 'forced'
  return runtime.state === USER_DOWN ? 'asked' : undefined
}

async function runtimeOnPrimary(ctx: UnitContext, view: InstanceView) {
  const { primary, instance } = view
  const answer = await ctx.nodes.require(
    primary,
    `Error checking node ${primary.name}`,
    ECODE.ENVIRON,
    'instance_info',
    [instance.name, instance.hypervisor, hvParamsOf(view)],
  )
  return runtimeOf(answer)
}

async function stopLeftover(ctx: UnitContext, view: InstanceView, timeout_s: number): Promise<void> {
  const what = `Could not shutdown instance '${view.instance.name}'`
  await waitForStop(
    ctx,
    { name: view.instance.name, limit_s: timeout_s },
    ctx.nodes.call(view.primary, what, 'instance_shutdown', [dictOf(view), timeout_s, ctx.reason]),
  )
  await shutdownDisks(ctx, view)
}

/** Asks a node to start an instance, and writes the node's remarks to the job's log. */
export async function startOn(ctx: UnitContext, node: Node, instance: InstanceDict, paused = false) {
  const result = await ctx.nodes.attempt(node, 'instance_start', [instance, paused, ctx.reason])
  if (result.ok) tellRemarks(ctx, result.payload)
  return result
}

export function tellRemarks(ctx: UnitContext, remarks: readonly string[] | null): void {
  for (const remark of remarks ?? []) ctx.log.info(remark)
}

/** Deactivates the disks after a failed start. A guest whose node's answer was lost may run. */
export async function undoStart(ctx: UnitContext, view: InstanceView, { lost }: { lost?: true }): Promise<void> {
  if (lost) await shutdownUnusedDisks(ctx, view)
  else await shutdownDisks(ctx, view)
}

/** Starts on the primary node; after a failure deactivates the disks again, unless a guest uses them. */
export async function startInstance(
  ctx: UnitContext,
  view: InstanceView,
  what: string,
  options: { overrides?: StartOverrides; paused?: boolean; inUse?: boolean } = {},
): Promise<void> {
  const result = await startOn(ctx, view.primary, dictOf(view, options.overrides), options.paused)
  if (result.ok) return
  if (!options.inUse) await undoStart(ctx, await reread(ctx, view), result)
  throw new OpExecError(`${what}: ${result.error}`)
}
