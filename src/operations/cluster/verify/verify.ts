// OP_CLUSTER_VERIFY and OP_CLUSTER_VERIFY_DISKS: only submit the jobs that do the work, one for each node group.
import { diskTemplateOf } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import { OpClusterVerify, OpClusterVerifyDisks } from '../../../opcodes/cluster'
import type { WireOpCode } from '../../../rpc/luxi/calls'
import { findGroup } from '../../find'
import { all, logicalUnit, ResultWithJobs, shared } from '../../logical-unit'
import type { UnitContext } from '../../unit-context'
import { diskIdOf } from '../../../model/templates'

export const clusterVerify = logicalUnit(OpClusterVerify, {
  check: async (ctx, op) => {
    const groups = await groupUuids(ctx, op.group_name)
    return op.group_name === undefined ? groups : [op.group_name]
  },
  async run(_ctx, op, groups) {
    const { debug_simulate_errors, error_codes, ignore_errors, verbose } = op
    const flags = { debug_simulate_errors, error_codes, ignore_errors, verbose }
    const config: WireOpCode[][] =
      op.group_name === undefined ? [[{ OP_ID: 'OP_CLUSTER_VERIFY_CONFIG', ...flags }]] : []
    const jobs = groups.map((group_name, index): WireOpCode[] => {
      const { skip_checks, verify_clutter } = op
      // The groups' jobs wait for the check of the configuration, whatever its result.
      const depends = config.length > 0 ? [[-(index + 1), []]] : null
      return [{ OP_ID: 'OP_CLUSTER_VERIFY_GROUP', group_name, ...flags, skip_checks, verify_clutter, depends }]
    })
    return new ResultWithJobs([...config, ...jobs])
  },
})

export const clusterVerifyDisks = logicalUnit(OpClusterVerifyDisks, {
  locks: async (op, ctx) => ({
    nodegroup: shared(op.group_name === undefined ? all : await groupUuids(ctx, op.group_name)),
  }),
  async check(ctx, op) {
    const config = await ctx.config.read({ instances: 'all' })
    // Nodes cannot be asked about external storage, and without instances there is nothing to ask.
    const external = recordValues(config.instances).every(
      (instance) => diskIdOf(diskTemplateOf(config, instance)) === 'provider',
    )
    return external ? [] : groupUuids(ctx, op.group_name)
  },
  async run(_ctx, op, groups) {
    const { is_strict } = op
    return new ResultWithJobs(groups.map((group_name) => [{ OP_ID: 'OP_GROUP_VERIFY_DISKS', group_name, is_strict }]))
  },
})

async function groupUuids(ctx: UnitContext, name: string | undefined): Promise<string[]> {
  if (name !== undefined) return [(await findGroup(ctx, name)).object.uuid]
  return recordValues((await ctx.config.read({ groups: 'all' })).nodegroups).map((group) => group.uuid)
}
