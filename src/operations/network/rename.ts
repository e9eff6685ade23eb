// OP_NETWORK_RENAME.
import { change } from '../../config/changes'
import { findNetwork as existingNetwork } from '../../config/lookup'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpNetworkRename } from '../../opcodes/network'
import { findNetwork } from '../find'
import { logicalUnit } from '../logical-unit'
import { lockNetwork } from './locks'

export const networkRename = logicalUnit(OpNetworkRename, {
  locks: lockNetwork,
  async check(ctx, op) {
    const { object: network } = await findNetwork(ctx, op.network_name)
    const config = await ctx.config.read({ networks: 'all', groups: 'all', nodes: 'all' })
    const clash = existingNetwork(config, op.new_name)
    if (clash !== undefined)
      throw new OpPrereqError(
        `Desired new name '${op.new_name}' clashes with existing network (UUID: ${clash.uuid})`,
        ECODE.EXISTS,
      )
    const connected = Object.values(config.nodes).filter((node) => {
      const group = config.nodegroups[node.group]
      return group !== undefined && Object.hasOwn(group.networks, network.uuid)
    })
    const nodes = [...new Set<string>([config.cluster.master_node, ...connected.map((node) => node.uuid)])]
    return { network, nodes }
  },
  hooks: {
    path: 'network-rename',
    type: 'NETWORK',
    env: (_ctx, op) => ({ OLD_NAME: op.network_name, NEW_NAME: op.new_name }),
    nodes: (_ctx, _op, { nodes }) => ({ pre: nodes, post: nodes }),
  },
  async run(ctx, op, { network }) {
    await ctx.config.change([change('patchNetwork', network.uuid, { name: op.new_name })])
    return op.new_name
  },
})
