// OP_INSTANCE_SHUTDOWN: stops the instance and deactivates its disks.
import { change } from '../../config/changes'
import { OpInstanceShutdown } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import { isGuestElsewhere } from '../../model/guest-state'
import type { UnitContext } from '../unit-context'
import { checkInstanceState, checkNodeOnline, hvParamsOf, ONLINE, runtimeOf, USER_DOWN } from './checks'
import { shutdownDisks } from './disks/activation'
import { shutdownUnusedDisks } from './disks/unused'
import { instanceHookEnv } from './hook-env'
import { dictOf, hookNodes, type InstanceView, locksOfInstance, readInstance, reread } from './view'
import { waitForStop } from './wait-for-stop'

/** A watcher has seen that a guest's user shut it down. By now an administrator may have started it. */
async function runsAgain(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const { instance, primary } = view
  if (primary.offline) return false
  const what = `Cannot tell whether instance ${instance.name} runs`
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  const runtime = runtimeOf(await ctx.nodes.call(primary, what, 'instance_info', [...args]))
  return runtime !== undefined && runtime.state !== USER_DOWN && !isGuestElsewhere(runtime)
}

const ofInstance = locksOfInstance(['node-res'], { primaryOnly: true })

export const instanceShutdown = logicalUnit(OpInstanceShutdown, {
  locks(op, ctx) {
    ctx.note({ admin_state_source: op.admin_state_source ?? 'admin' })
    return ofInstance.locks(op, ctx)
  },
  declare: ofInstance.declare,
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    if (op.force) ctx.log.warning('Ignoring offline instance check')
    else await checkInstanceState(ctx, view, ONLINE)
    if (view.primary.offline && op.ignore_offline_nodes) ctx.log.warning('Ignoring offline primary node')
    else checkNodeOnline(view.primary)
    return view
  },
  hooks: {
    path: 'instance-stop',
    type: 'INSTANCE',
    env: (ctx, op, view) => instanceHookEnv(ctx, view.instance.uuid, { TIMEOUT: op.timeout }),
    nodes: (_ctx, _op, view) => hookNodes(view),
  },
  async run(ctx, op, view) {
    const { instance, primary } = view
    if (op.admin_state_source === 'user' && (await runsAgain(ctx, view))) {
      ctx.log.info(
        `Instance ${instance.name} runs: it was started after its user had shut it down, so it is left alone`,
      )
      return null
    }
    // An instance that is marked offline stays so.
    if (!op.no_remember && ONLINE.includes(instance.admin_state))
      await ctx.config.change([
        change('setInstanceStatus', instance.uuid, 'down', null, op.admin_state_source ?? 'admin'),
      ])
    if (primary.offline) {
      ctx.log.info('Primary node offline, marked instance as stopped')
      return null
    }
    const result = await waitForStop(
      ctx,
      { name: instance.name, limit_s: op.timeout },
      ctx.nodes.attempt(primary, 'instance_shutdown', [dictOf(view), op.timeout, ctx.reason]),
    )
    const after = await reread(ctx, view)
    if (result.ok) await shutdownDisks(ctx, after)
    else {
      ctx.log.warning(`Could not shutdown instance: ${result.error}`)
      await shutdownUnusedDisks(ctx, after)
    }
    return null
  },
})
