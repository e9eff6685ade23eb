// OP_NETWORK_REMOVE: removes a network to which no node group is connected.
import { change } from '../../config/changes'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import { OpNetworkRemove } from '../../opcodes/network'
import { findNetwork } from '../find'
import { masterOnly } from '../group/members'
import { all, logicalUnit, shared } from '../logical-unit'
import { lockNetwork } from './locks'

export const networkRemove = logicalUnit(OpNetworkRemove, {
  locks: async (op, ctx) => ({ ...(await lockNetwork(op, ctx)), nodegroup: shared(all) }),
  async check(ctx, op) {
    const { object: network } = await findNetwork(ctx, op.network_name)
    const config = await ctx.config.read({ groups: 'all' })
    const connected = Object.values(config.nodegroups).filter((group) => Object.hasOwn(group.networks, network.uuid))
    if (connected.length > 0) {
      const names = niceSort(connected.map((group) => group.name))
      ctx.log.warning(`Network '${op.network_name}' is connected to the following node groups: ${names.join(', ')}`)
      throw new OpPrereqError('Network still connected', ECODE.STATE)
    }
    return { config, network }
  },
  hooks: {
    path: 'network-remove',
    type: 'NETWORK',
    env: (_ctx, op) => ({ NETWORK_NAME: op.network_name }),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  changes: (_ctx, _op, { network }) => [change('removeNetwork', network.uuid)],
})
