// OP_NETWORK_CONNECT and OP_NETWORK_DISCONNECT: allow the NICs of a node group to use a network, and set their mode and
// link.
import { isInNetwork } from '../../config/addresses'
import { change } from '../../config/changes'
import { nodesOfGroup } from '../../config/lookup'
import type { ConfigData, NodeGroup, NicParams } from '../../model/config'
import { ConfigurationError, ECODE, OpPrereqError } from '../../model/errors'
import { OpNetworkConnect, OpNetworkDisconnect } from '../../opcodes/network'
import { findNetwork } from '../find'
import { checkInstancesLocked, findGroupAndAll, groupInstanceNames } from '../group/members'
import { exclusive, logicalUnit, shared } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkNicConflicts } from './conflicts'

interface Names {
  readonly group_name: string
  readonly network_name: string
}

export const networkConnect = logicalUnit(OpNetworkConnect, {
  async locks(op, ctx) {
    const { config, group, network } = await read(ctx, op)
    if (!op.conflicts_check) return { nodegroup: exclusive([group.uuid]) }
    return {
      instance: shared(groupInstanceNames(config, group.uuid)),
      nodegroup: exclusive([group.uuid]),
      network: shared([network.uuid]),
    }
  },
  async check(ctx, op) {
    const { config, group, network } = await read(ctx, op)
    const params: NicParams = { mode: op.network_mode, link: op.network_link, vlan: op.network_vlan }
    if (params.mode === 'bridged' && params.link === '') throw new ConfigurationError('Missing bridged NIC link')
    const present = group.networks[network.uuid]
    const instances = op.conflicts_check ? checkInstancesLocked(ctx, config, group) : []
    if (present !== undefined)
      checkSame(present, params, `Network '${op.network_name}' is connected to group '${group.name}'`)
    if (present !== undefined)
      ctx.log.warning(`Network '${op.network_name}' is already mapped to group '${group.name}'`)
    else
      checkNicConflicts(
        ctx,
        { network: op.network_name, group: group.name, action: 'connect to' },
        instances,
        (nic) => nic.ip !== undefined && isInNetwork(network, nic.ip),
      )
    return { config, group, network, params, connected: present !== undefined }
  },
  hooks: {
    path: 'network-connect',
    type: 'NETWORK',
    env: (_ctx, op, { params }) => ({ GROUP_NAME: op.group_name, ...netParamsEnv(params) }),
    nodes: (_ctx, _op, { config, group }) => groupNodes(config, group),
  },
  changes: (_ctx, _op, { group, network, params, connected }) =>
    connected
      ? []
      : [change('patchNodeGroup', group.uuid, { networks: { ...group.networks, [network.uuid]: params } })],
})

export const networkDisconnect = logicalUnit(OpNetworkDisconnect, {
  async locks(op, ctx) {
    const { config, group } = await read(ctx, op)
    return { instance: shared(groupInstanceNames(config, group.uuid)), nodegroup: exclusive([group.uuid]) }
  },
  async check(ctx, op) {
    const { config, group, network } = await read(ctx, op)
    const instances = checkInstancesLocked(ctx, config, group)
    const { [network.uuid]: params, ...rest } = group.networks
    if (params === undefined) ctx.log.warning(`Network '${op.network_name}' is not mapped to group '${group.name}'`)
    else
      checkNicConflicts(
        ctx,
        { network: op.network_name, group: group.name, action: 'disconnect from' },
        instances,
        (nic) => nic.network === network.uuid,
      )
    return { config, group, params, rest }
  },
  hooks: {
    path: 'network-disconnect',
    type: 'NETWORK',
    env: (_ctx, op, { params }) => ({ GROUP_NAME: op.group_name, ...(params && netParamsEnv(params)) }),
    nodes: (_ctx, _op, { config, group }) => groupNodes(config, group),
  },
  changes: (_ctx, _op, { group, params, rest }) =>
    params === undefined ? [] : [change('patchNodeGroup', group.uuid, { networks: rest })],
})

/** The NICs of the network have copies of these parameters, which a second connect would not change. */
function checkSame(present: NicParams, desired: NicParams, connected: string): void {
  const text = ({ mode, link, vlan }: NicParams) => `mode=${mode},link=${link}${vlan ? `,vlan=${vlan}` : ''}`
  if (text(present) === text(desired)) return
  throw new OpPrereqError(
    `${connected} with ${text(present)}; to connect it with ${text(desired)}, take its NICs out of it and disconnect it first`,
    ECODE.STATE,
  )
}

async function read(ctx: UnitContext, op: Names) {
  const { object: network } = await findNetwork(ctx, op.network_name)
  const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
  return { config, group, network }
}

const netParamsEnv = (params: NicParams) => ({
  GROUP_NETWORK_MODE: params.mode,
  GROUP_NETWORK_LINK: params.link,
  GROUP_NETWORK_VLAN: params.vlan,
})

function groupNodes(config: ConfigData, group: NodeGroup): { pre: string[]; post: string[] } {
  const nodes = nodesOfGroup(config, group.uuid).map((node) => node.uuid)
  return { pre: nodes, post: nodes }
}
