// OP_INSTANCE_ACTIVATE_DISKS and OP_INSTANCE_DEACTIVATE_DISKS: only the disks, not the instance.
import { OpExecError } from '../../model/errors'
import { OpInstanceActivateDisks, OpInstanceDeactivateDisks } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import { checkInstanceState, checkNodeOnline, DOWN } from './checks'
import { waitForSync } from './disks/sync'
import { assembleDisks, shutdownDisks } from './disks/activation'
import { locksOfInstance, readInstance } from './view'

export const instanceActivateDisks = logicalUnit(OpInstanceActivateDisks, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    checkNodeOnline(view.primary)
    return view
  },
  async run(ctx, op, view) {
    const { ok, devices, view: active } = await assembleDisks(ctx, view, { ignoreSize: op.ignore_size })
    if (!ok) throw new OpExecError('Cannot activate block devices')
    // The disks are active nevertheless, and are noted to be, so that verify and the watcher look after them.
    if (op.wait_for_sync && !(await waitForSync(ctx, active)))
      throw new OpExecError(
        `Some disks of the instance are degraded! They stay active; "gnt-instance repair ${view.instance.name}" mends them`,
      )
    return devices
  },
})

export const instanceDeactivateDisks = logicalUnit(OpInstanceDeactivateDisks, {
  ...locksOfInstance(['node', 'node-res']),
  check: (ctx, op) => readInstance(ctx, op),
  async run(ctx, op, view) {
    if (!op.force) await checkInstanceState(ctx, view, DOWN, 'cannot shutdown disks')
    await shutdownDisks(ctx, view)
    return null
  },
})
