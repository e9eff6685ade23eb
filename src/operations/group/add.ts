// OP_GROUP_ADD: a new, empty node group.
import { change } from '../../config/changes'
import { fillIPolicy } from '../../config/filled'
import { findGroup, findNetwork } from '../../config/lookup'
import type { NodeGroup } from '../../model/config'
import { COMMUNICATION } from '../../model/constants/communication'
import { ECODE, OpPrereqError } from '../../model/errors'
import { groupUuid } from '../../model/ids'
import { OpGroupAdd } from '../../opcodes/group'
import { logicalUnit, ResultWithJobs } from '../logical-unit'
import { checkTemplatesEnabled, newIPolicy } from './ipolicy'
import { masterOnly } from './members'
import { updatedDiskParams, updatedDiskState, updatedHvState, updatedNdParams } from './params'

export const groupAdd = logicalUnit(OpGroupAdd, {
  async check(ctx, op) {
    const config = await ctx.config.read({ groups: 'all', networks: 'all' })
    const existing = findGroup(config, op.group_name)
    if (existing !== undefined)
      throw new OpPrereqError(
        `Desired group name '${op.group_name}' already exists as a node group (UUID: ${existing.uuid})`,
        ECODE.EXISTS,
      )
    const ipolicy = newIPolicy(op.ipolicy ?? {})
    const group: NodeGroup = {
      name: op.group_name,
      uuid: groupUuid(ctx.env.random.uuid()),
      members: [],
      alloc_policy: op.alloc_policy ?? 'preferred',
      ndparams: updatedNdParams({}, op.ndparams ?? {}),
      diskparams: updatedDiskParams({}, op.diskparams ?? {}),
      ipolicy,
      networks: {},
      ...(op.hv_state && { hv_state_static: updatedHvState({}, op.hv_state) }),
      ...(op.disk_state && { disk_state_static: updatedDiskState({}, op.disk_state) }),
      tags: [],
      serial_no: 1,
      ctime: 0,
      mtime: 0,
    }
    if (op.ipolicy) checkTemplatesEnabled(fillIPolicy(config.cluster, group), config.cluster.enabled_disk_templates)
    return { config, group }
  },
  hooks: {
    path: 'group-add',
    type: 'GROUP',
    env: (_ctx, op) => ({ GROUP_NAME: op.group_name }),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  async run(ctx, _op, { config, group }) {
    await ctx.config.change([change('addNodeGroup', group)])
    const network = config.cluster.instance_communication_network
    if (network === '' || findNetwork(config, network) === undefined) return null
    return new ResultWithJobs([
      [
        {
          OP_ID: 'OP_NETWORK_CONNECT',
          group_name: group.uuid,
          network_name: network,
          network_mode: COMMUNICATION.mode,
          network_link: COMMUNICATION.link,
          conflicts_check: true,
        },
      ],
    ])
  },
})
