// OP_INSTANCE_MIGRATE: moves a running instance to another node, live if possible.
import { DEFAULT_SHUTDOWN_TIMEOUT_S } from '../../model/constants/words'
import { OpInstanceMigrate } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import { failOver, moveEnv } from './failover'
import { instanceHookEnv } from './hook-env'
import { cleanUp } from './moves/clean-up'
import { migrate } from './moves/migration'
import { moveLocks, planMove } from './moves/plan'
import { hookNodes } from './view'

export const instanceMigrate = logicalUnit(OpInstanceMigrate, {
  ...moveLocks,
  check: (ctx, op) => planMove(ctx, op, { failover: false, fallback: op.allow_failover }),
  hooks: {
    path: 'instance-migrate',
    type: 'INSTANCE',
    env: (ctx, op, move) =>
      instanceHookEnv(ctx, move.view.instance.uuid, {
        MIGRATE_LIVE: move.live,
        MIGRATE_CLEANUP: op.cleanup,
        ALLOW_RUNTIME_CHANGES: op.allow_runtime_changes,
        ...moveEnv(move),
      }),
    nodes: (_ctx, _op, { view, target }) => hookNodes(view, [target.uuid]),
  },
  async run(ctx, op, move) {
    if (move.failover) await failOver(ctx, move, { timeout_s: DEFAULT_SHUTDOWN_TIMEOUT_S, ignoreConsistency: false })
    else if (op.cleanup) await cleanUp(ctx, move)
    else
      await migrate(ctx, move, {
        allowRuntimeChanges: op.allow_runtime_changes,
        ignoreVersions: op.ignore_hvversions,
      })
    return null
  },
})
