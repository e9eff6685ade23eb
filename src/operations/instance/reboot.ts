// OP_INSTANCE_REBOOT: soft (the hypervisor's reset), hard (stop and start on the node), full (disks too).
import { change } from '../../config/changes'
import { OpInstanceReboot } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import {
  checkBridges,
  checkInstanceState,
  checkNodeOnline,
  checkStartsOn,
  hvParamsOf,
  ONLINE,
  runtimeOf,
} from './checks'
import { shutdownDisks, startDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { refuseHalfRestored } from './snapshots/notes'
import { startInstance, tellRemarks } from './startup'
import { dictOf, hookNodes, locksOfInstance, readInstance, reread } from './view'
import { waitForStop } from './wait-for-stop'

export const instanceReboot = logicalUnit(OpInstanceReboot, {
  ...locksOfInstance(['node-res'], { primaryOnly: true }),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    await checkInstanceState(ctx, view, ONLINE)
    checkNodeOnline(view.primary)
    // It starts an instance that is stopped.
    await refuseHalfRestored(ctx, view)
    await checkBridges(ctx, view.config, view.instance, view.primary)
    // A soft reboot does not stop the machine.
    if (op.reboot_type !== 'soft') await checkStartsOn(ctx, view, view.primary)
    return view
  },
  hooks: {
    path: 'instance-reboot',
    type: 'INSTANCE',
    env: (ctx, op, view) =>
      instanceHookEnv(ctx, view.instance.uuid, {
        IGNORE_SECONDARIES: op.ignore_secondaries,
        REBOOT_TYPE: op.reboot_type,
        SHUTDOWN_TIMEOUT: op.shutdown_timeout,
      }),
    nodes: (_ctx, _op, view) => hookNodes(view),
  },
  async run(ctx, op, view) {
    const { instance, primary } = view
    const stopping = <T>(call: Promise<T>) =>
      waitForStop(ctx, { name: instance.name, limit_s: op.shutdown_timeout }, call)
    const answer = await ctx.nodes.call(primary, `Error checking node ${primary.name}`, 'instance_info', [
      instance.name,
      instance.hypervisor,
      hvParamsOf(view),
    ])
    const running = runtimeOf(answer) !== undefined
    if (running && op.reboot_type !== 'full') {
      const args = [dictOf(view), op.reboot_type, op.shutdown_timeout, ctx.reason] as const
      const call = ctx.nodes.call(primary, 'Could not reboot instance', 'instance_reboot', [...args])
      const rebooted = await (op.reboot_type === 'hard' ? stopping(call) : call)
      tellRemarks(ctx, rebooted)
    } else {
      if (running) {
        const args = [dictOf(view), op.shutdown_timeout, ctx.reason] as const
        await stopping(
          ctx.nodes.call(primary, 'Could not shutdown instance for full reboot', 'instance_shutdown', [...args]),
        )
        await shutdownDisks(ctx, view)
      } else ctx.log.info(`Instance ${instance.name} was already stopped, starting now`)
      const active = await startDisks(ctx, await reread(ctx, view), { force: op.ignore_secondaries })
      await startInstance(ctx, active, 'Could not start instance for full reboot')
    }
    await ctx.config.change([change('setInstanceStatus', instance.uuid, 'up', true, 'admin')])
    return null
  },
})
