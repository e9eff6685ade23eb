// The network for instance communication. If it is missing, further jobs make and connect it.
import { findNetwork } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { ConfigData } from '../../../model/config'
import { COMMUNICATION, NODE_ADDRESSES } from '../../../model/constants/communication'
import type { WireOpCode } from '../../../rpc/luxi/calls'
import type { UnitContext } from '../../unit-context'

const { network: NETWORK, network6: NETWORK6, macPrefix: MAC_PREFIX, mode, link } = COMMUNICATION

/** An existing network is used unchanged; warns about dangerous settings. */
export function checkCommunicationNetwork(ctx: UnitContext, config: ConfigData, name: string | undefined): void {
  const network = name === undefined || name === '' ? undefined : findNetwork(config, name)
  if (network === undefined) return
  const unusual: [what: string, value: string | undefined, standard: string | undefined][] = [
    ['has an IPv4 gateway', network.gateway, undefined],
    ['has a non-standard IPv4 network address', network.network, NETWORK],
    ['has an IPv6 gateway', network.gateway6, undefined],
    ['has a non-standard IPv6 network address', network.network6, NETWORK6],
    ['has a non-standard MAC prefix', network.mac_prefix, MAC_PREFIX],
  ]
  for (const [what, value, standard] of unusual)
    if (value !== standard)
      ctx.log.warning(
        `Supplied instance communication network '${network.name}' ${what} '${value ?? 'None'}', this might pose a security risk (default is '${standard ?? 'None'}').`,
      )
}

/** `before` is the configuration before the change. */
export function communicationNetworkJobs(
  ctx: UnitContext,
  before: ConfigData,
  desired: string | undefined,
): WireOpCode[] {
  if (desired === undefined) return []
  const old = before.cluster.instance_communication_network
  if (desired === old) {
    ctx.log.say(`Instance communication network already is '${desired}', nothing to do.`)
    return []
  }
  if (old !== '' && findNetwork(before, old) !== undefined)
    ctx.log.say(`Previous instance communication network '${old}' should be removed manually.`)
  const what = desired === '' ? 'Disabling instance communication network' : `Changing instance communication network to '${desired}'` // prettier-ignore
  ctx.log.say(`${what}, only new instances will be affected.`)
  return desired === '' ? [] : missing(before, desired)
}

function missing(config: ConfigData, name: string): WireOpCode[] {
  const network = findNetwork(config, name)
  const unconnected = recordValues(config.nodegroups).filter(
    (group) => network === undefined || group.networks[network.uuid] === undefined,
  )
  const make: WireOpCode[] =
    network === undefined
      ? [
          {
            ...{ OP_ID: 'OP_NETWORK_ADD', network_name: name, network: NETWORK, network6: NETWORK6 },
            ...{ mac_prefix: MAC_PREFIX, conflicts_check: true, add_reserved_ips: [...NODE_ADDRESSES] },
          },
        ]
      : []
  const connect = unconnected.map(({ uuid }): WireOpCode => {
    const place = { group_name: uuid, network_name: name, network_mode: mode, network_link: link }
    return { OP_ID: 'OP_NETWORK_CONNECT', ...place, conflicts_check: true }
  })
  return [...make, ...connect]
}
