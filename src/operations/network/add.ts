// OP_NETWORK_ADD: adds an IP network with its pool of addresses, without those of the cluster's own nodes.
import { change } from '../../config/changes'
import { addressIndex, isReserved } from '../../config/addresses'
import { checkTag } from '../../config/changes/tags'
import { findNetwork } from '../../config/lookup'
import type { ConfigData, Network } from '../../model/config'
import { AddressPoolError, ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { networkUuid } from '../../model/ids'
import { OpNetworkAdd } from '../../opcodes/network'
import { masterOnly } from '../group/members'
import { networkEnv } from '../instance/hook-env'
import { all, logicalUnit, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkGateway6, initialPool, macPrefix, reserved } from './pool'

export const networkAdd = logicalUnit(OpNetworkAdd, {
  locks(op, ctx) {
    if (op.mac_prefix !== undefined) ctx.note({ mac_prefix: macPrefix(op.mac_prefix) })
    return op.conflicts_check ? { node: shared(all) } : {}
  },
  async check(ctx, op) {
    const config = await ctx.config.read({ networks: 'all', nodes: op.conflicts_check ? 'all' : [] })
    const existing = findNetwork(config, op.network_name)
    if (existing !== undefined)
      throw new OpPrereqError(
        `Desired network name '${op.network_name}' already exists as a network (UUID: ${existing.uuid})`,
        ECODE.EXISTS,
      )
    op.tags.forEach(checkTag)
    checkGateway6(op)
    return { config, network: wantedNetwork(ctx, op) }
  },
  hooks: {
    path: 'network-add',
    type: 'NETWORK',
    env: (_ctx, _op, { network }) => networkEnv(network),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  async run(ctx, op, { config, network }) {
    let pool = orFail(`Cannot create IP address pool for network '${network.name}'`, () => initialPool(network))
    if (op.conflicts_check) pool = withoutOwnAddresses(ctx, config, pool)
    for (const ip of op.add_reserved_ips ?? [])
      pool = orFail(`Cannot reserve IP address '${ip}'`, () => reserved(pool, ip))
    await ctx.config.change([change('addNetwork', pool)])
    return null
  },
})

function wantedNetwork(ctx: UnitContext, op: Op<typeof OpNetworkAdd>): Network {
  return {
    name: op.network_name,
    uuid: networkUuid(ctx.env.random.uuid()),
    network: op.network,
    ...(op.gateway !== undefined && { gateway: op.gateway }),
    ...(op.network6 !== undefined && { network6: op.network6 }),
    ...(op.gateway6 !== undefined && { gateway6: op.gateway6 }),
    ...(op.mac_prefix !== undefined && { mac_prefix: macPrefix(op.mac_prefix) }),
    tags: op.tags,
    serial_no: 1,
    ctime: 0,
    mtime: 0,
  }
}

/** Reserves the nodes' own addresses: in routed mode an instance with such an address could not work. */
function withoutOwnAddresses(ctx: UnitContext, config: ConfigData, network: Network): Network {
  let pool = network
  const keepOut = (ip: string, whose: string) => {
    // A node with one address has it twice, and it may be the gateway.
    if (addressIndex(pool, ip) === undefined || isReserved(pool, ip, { external: true })) return
    pool = reserved(pool, ip)
    ctx.log.info(`Reserved ${whose} (${ip})`)
  }
  for (const node of Object.values(config.nodes))
    for (const ip of [node.primary_ip, node.secondary_ip]) keepOut(ip, `IP address of node '${node.name}'`)
  keepOut(config.cluster.master_ip, 'cluster master IP address')
  return pool
}

function orFail(what: string, step: () => Network): Network {
  try {
    return step()
  } catch (error) {
    if (error instanceof AddressPoolError) throw new OpExecError(`${what}: ${error.message}`)
    throw error
  }
}
