// OP_NETWORK_SET_PARAMS: gateway, IPv6, MAC prefix and external reservations. The IPv4 subnet of a network is fixed.
import { change } from '../../config/changes'
import { canonicalIp, isInNetwork, isReserved } from '../../config/addresses'
import { recordValues } from '../../config/records'
import type { ConfigData, Network } from '../../model/config'
import { VALUE } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import { isIPv6 } from 'node:net'
import { OpNetworkSetParams } from '../../opcodes/network'
import { findNetwork } from '../find'
import { masterOnly } from '../group/members'
import { networkEnv } from '../instance/hook-env'
import { logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { lockNetwork } from './locks'
import { attempt, checkGateway6, macPrefix, released, reserved } from './pool'

type SetParams = Op<typeof OpNetworkSetParams>

export const networkSetParams = logicalUnit(OpNetworkSetParams, {
  async locks(op, ctx) {
    if (op.gateway && (op.add_reserved_ips?.length || op.remove_reserved_ips?.length))
      throw new OpPrereqError('Cannot modify gateway and reserved ips at once', ECODE.INVAL)
    return lockNetwork(op, ctx)
  },
  async check(ctx, op) {
    const { config, object: network } = await findNetwork(ctx, op.network_name)
    const desired = wantedNetwork(op, network)
    if (op.network6 || op.gateway6) checkNics6(await ctx.config.read({ instances: 'all' }), desired)
    return { config, network, wanted: desired }
  },
  hooks: {
    path: 'network-modify',
    type: 'NETWORK',
    env: (_ctx, op, { wanted: desired }) => networkEnv({ ...desired, name: op.network_name }),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  async run(ctx, op, { network, wanted: desired }) {
    const { gateway, gateway6, network6, mac_prefix } = desired
    const { ext_reservations } = withReservations(ctx, op, withGateway(ctx, op, network, desired), gateway)
    const optional = { gateway, gateway6, network6, mac_prefix }
    const fields = Object.fromEntries(Object.entries(optional).map(([name, value]) => [name, value ?? null]))
    await ctx.config.change([change('patchNetwork', network.uuid, { ...fields, ext_reservations })])
    return null
  },
})

/** The word `none` removes a value. */
function wantedNetwork(op: SetParams, network: Network): Network {
  const { gateway, gateway6, network6, mac_prefix, ...rest } = network
  const desired = {
    gateway: input(op.gateway, gateway),
    gateway6: input(op.gateway6, gateway6),
    network6: input(op.network6, network6),
    mac_prefix: input(op.mac_prefix, mac_prefix, macPrefix),
  }
  if (op.gateway && desired.gateway !== undefined) checkGateway(network, desired.gateway)
  if (op.gateway6 || op.network6) checkGateway6(desired)
  const set = Object.fromEntries(Object.entries(desired).filter(([, value]) => value !== undefined))
  return { ...rest, ...set }
}

function input(value: string | undefined, old: string | undefined, read = (text: string) => text): string | undefined {
  if (!value) return old
  return value === VALUE.none ? undefined : read(value)
}

function checkGateway(network: Network, gateway: string): void {
  if (isReserved(network, gateway, { external: false }))
    throw new OpPrereqError(`Gateway IP address '${gateway}' is already reserved`, ECODE.STATE)
  if (gateway !== network.gateway) reserved(network, gateway)
}

/** No map says which addresses of the IPv6 part instances have. */
function checkNics6({ instances }: ConfigData, network: Network): void {
  const wrong = recordValues(instances).flatMap(({ name, nics }) =>
    nics.flatMap(({ network: uuid, ip }, index) =>
      uuid === network.uuid &&
      ip !== undefined &&
      isIPv6(ip) &&
      (!isInNetwork(network, ip) || ip === gateway6Of(network))
        ? [`${name} (NIC ${index}, ${ip})`]
        : [],
    ),
  )
  if (wrong.length === 0) return
  throw new OpPrereqError(`The addresses of these instances do not fit: ${niceSort(wrong).join(', ')}`, ECODE.STATE)
}

const gateway6Of = ({ gateway6 }: Network): string | undefined =>
  gateway6 === undefined ? undefined : canonicalIp(gateway6)

/** The gateway's address is reserved while it is the gateway. */
function withGateway(ctx: UnitContext, op: SetParams, network: Network, { gateway }: Network): Network {
  if (!op.gateway) return network
  if (gateway === network.gateway) {
    ctx.log.warning(`Gateway is already ${gateway ?? 'None'}`)
    return network
  }
  const warn = (why: string) => ctx.log.warning(why)
  const old = network.gateway
  const withNew = gateway === undefined ? network : reserved(network, gateway)
  return old === undefined ? withNew : attempt(withNew, (pool) => released(pool, old), warn)
}

function withReservations(ctx: UnitContext, op: SetParams, network: Network, gateway: string | undefined): Network {
  let pool = network
  for (const ip of op.add_reserved_ips ?? []) {
    const complain = (why: string) => ctx.log.warning(`Cannot reserve IP address ${ip}: ${why}`)
    pool = attempt(pool, (before) => reserved(before, ip), complain)
  }
  for (const ip of op.remove_reserved_ips ?? []) {
    const complain = (why: string) => ctx.log.warning(`Cannot release IP address ${ip}: ${why}`)
    if (ip === gateway) ctx.log.warning("Cannot unreserve Gateway's IP")
    else pool = attempt(pool, (before) => released(before, ip), complain)
  }
  return pool
}
