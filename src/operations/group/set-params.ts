// OP_GROUP_SET_PARAMS: allocation policy, node, disk and state parameters, and the instance policy of a group.
import { pythonRepr } from '../../lib/text/python-text'
import { change } from '../../config/changes'
import { fillIPolicy } from '../../config/filled'
import type { ConfigData, Instance, NodeGroup } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpGroupSetParams } from '../../opcodes/group'
import { exclusive, logicalUnit, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { warnOfLostPlaces } from './disk-places'
import { checkTemplatesEnabled, newlyViolating, policyWith, updatedIPolicy } from './ipolicy'
import { checkInstancesLocked, findGroupAndAll, groupInstanceNames, masterOnly } from './members'
import { checkDiskAccess, updatedDiskParams, updatedDiskState, updatedHvState, updatedNdParams } from './params'

type SetParams = Op<typeof OpGroupSetParams>

export const groupSetParams = logicalUnit(OpGroupSetParams, {
  async locks(op, ctx) {
    const input = [op.ndparams, op.diskparams, op.alloc_policy, op.hv_state, op.disk_state, op.ipolicy]
    if (input.every((value) => value === undefined))
      throw new OpPrereqError('Please pass at least one modification', ECODE.INVAL)
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    return { instance: shared(groupInstanceNames(config, group.uuid)), nodegroup: exclusive([group.uuid]) }
  },
  async check(ctx, op) {
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    const instances = checkInstancesLocked(ctx, config, group)
    return { config, group, fields: newFields(ctx, op, config, group, instances) }
  },
  hooks: {
    path: 'group-modify',
    type: 'GROUP',
    env: (_ctx, op) => ({ GROUP_NAME: op.group_name, NEW_ALLOC_POLICY: op.alloc_policy }),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  async run(ctx, _op, { group, fields }) {
    await ctx.config.change([change('patchNodeGroup', group.uuid, fields)])
    const result: [string, string][] = []
    if (fields.ndparams) result.push(['ndparams', pythonRepr(fields.ndparams)])
    if (fields.diskparams) result.push(['diskparams', pythonRepr(fields.diskparams)])
    return result
  },
})

function newFields(
  ctx: UnitContext,
  op: SetParams,
  config: ConfigData,
  group: NodeGroup,
  instances: readonly Instance[],
): Partial<NodeGroup> {
  const diskparams = op.diskparams && updatedDiskParams(group.diskparams, op.diskparams)
  if (diskparams) {
    checkDiskAccess(config, instances, diskparams)
    const nodegroups = { ...config.nodegroups, [group.uuid]: { ...group, diskparams } }
    warnOfLostPlaces(ctx, config, { nodegroups })
  }
  return {
    ...(op.ndparams && { ndparams: updatedNdParams(group.ndparams, op.ndparams) }),
    ...(diskparams && { diskparams }),
    ...(op.hv_state && { hv_state_static: updatedHvState(group.hv_state_static, op.hv_state) }),
    ...(op.disk_state && { disk_state_static: updatedDiskState(group.disk_state_static, op.disk_state) }),
    ...(op.alloc_policy && { alloc_policy: op.alloc_policy }),
    ...(op.ipolicy && { ipolicy: newPolicy(ctx, op.ipolicy, config, group, instances) }),
  }
}

function newPolicy(
  ctx: UnitContext,
  input: Readonly<Record<string, unknown>>,
  config: ConfigData,
  group: NodeGroup,
  instances: readonly Instance[],
): NodeGroup['ipolicy'] {
  const { cluster } = config
  const ipolicy = updatedIPolicy(group.ipolicy, input, 'group')
  const after = policyWith(cluster, group, ipolicy)
  checkTemplatesEnabled(after, cluster.enabled_disk_templates)
  const violating = newlyViolating(config, instances, fillIPolicy(cluster, group), after)
  if (violating.length > 0)
    ctx.log.warning(`After the ipolicy change the following instances violate them: ${violating.join(', ')}`)
  return ipolicy
}
