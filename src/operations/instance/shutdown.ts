// OP_INSTANCE_SHUTDOWN: stops the instance and deactivates its disks.
import { change } from '../../config/changes'
import { OpInstanceShutdown } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import { checkInstanceState, checkNodeOnline, ONLINE } from './checks'
import { shutdownDisks } from './disks/activation'
import { shutdownUnusedDisks } from './disks/unused'
import { instanceHookEnv } from './hook-env'
import { dictOf, hookNodes, locksOfInstance, readInstance, reread } from './view'
import { whileItStops } from './while-it-stops'

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
    // An instance that is marked offline stays so.
    if (!op.no_remember && ONLINE.includes(instance.admin_state))
      await ctx.config.change([
        change('setInstanceStatus', instance.uuid, 'down', null, op.admin_state_source ?? 'admin'),
      ])
    if (primary.offline) {
      ctx.log.info('Primary node offline, marked instance as stopped')
      return null
    }
    const result = await whileItStops(
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
