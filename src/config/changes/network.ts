// Changes to networks, and to the maps of their addresses.
import type { ConfigData, Network, Nic } from '../../model/config'
import { ConfigurationError } from '../../model/errors'
import { addressIndex, addressMap } from '../addresses'
import { keyByName, recordValues } from '../records'
import {
  checkSerial,
  done,
  drop,
  fresh,
  get,
  patched,
  put,
  touchCluster,
  touched,
  type ChangeContext,
  type Changed,
} from '../edit'

export function addNetwork(config: ConfigData, context: ChangeContext, network: Network): Changed<null> {
  if (config.networks[network.uuid] !== undefined || keyByName(config.networks, network.name) !== undefined)
    throw new ConfigurationError(`Network ${network.name} cannot be added: its name or uuid is in use`)
  const maps = {
    reservations: addressMap(network, 'reservations'),
    ext_reservations: addressMap(network, 'ext_reservations'),
  }
  return done(touchCluster(put(config, 'networks', fresh({ ...network, ...maps }, context)), context))
}

export function removeNetwork(config: ConfigData, context: ChangeContext, uuid: string): Changed<null> {
  const network = get(config, 'networks', uuid)
  const group = recordValues(config.nodegroups).find((other) => other.networks[uuid] !== undefined)
  if (group) throw new ConfigurationError(`Network ${network.name} is connected to node group ${group.name}`)
  return done(touchCluster(drop(config, 'networks', uuid), context))
}

export function updateNetwork(
  config: ConfigData,
  context: ChangeContext,
  network: Network,
): Changed<[serial_no: number, mtime: number]> {
  checkSerial('networks', network, get(config, 'networks', network.uuid))
  const { config: next, result } = storeNetwork(config, context, network)
  return { config: next, result: [result.serial_no, result.mtime] }
}

export function patchNetwork(
  config: ConfigData,
  context: ChangeContext,
  uuid: string,
  fields: Readonly<Record<string, unknown>>,
): Changed<null> {
  return done(storeNetwork(config, context, patched(get(config, 'networks', uuid), fields)).config)
}

function storeNetwork(config: ConfigData, context: ChangeContext, network: Network): Changed<Network> {
  if ((keyByName(config.networks, network.name) ?? network.uuid) !== network.uuid)
    throw new ConfigurationError(`A network named ${network.name} exists`)
  const changed = touched(network, context)
  return { config: put(config, 'networks', changed), result: changed }
}

/**
 * Makes a job's temporary reservations and releases permanent: `[["reserve" | "release", address, network uuid], ...]`.
 */
export function commitTemporaryIps(
  config: ConfigData,
  context: ChangeContext,
  actions: readonly (readonly [action: 'reserve' | 'release', ip: string, network: string])[],
): Changed<null> {
  let next = config
  for (const [action, ip, network] of actions) {
    if (action === 'reserve') next = reserveAddress(next, context, network, ip)
    else if (action === 'release') next = releaseAddress(next, context, network, ip)
    else throw new ConfigurationError(`Unknown action on an address: ${String(action)}`)
  }
  return done(next)
}

/** Reserving a taken address changes nothing: a job may have committed it before its instance is added. */
export const reserveAddress = (config: ConfigData, context: ChangeContext, network: string, ip: string): ConfigData =>
  setAddress(config, context, network, ip, '1')

const releaseAddress = (config: ConfigData, context: ChangeContext, network: string, ip: string): ConfigData =>
  setAddress(config, context, network, ip, '0')

/** Releases the addresses of removed NICs, unless `kept` still has them. */
export function releaseAddresses(
  config: ConfigData,
  context: ChangeContext,
  nics: readonly Nic[],
  kept: readonly Nic[] = [],
): ConfigData {
  let next = config
  for (const { network, ip } of nics) {
    if (!network || !ip || kept.some((nic) => nic.network === network && nic.ip === ip)) continue
    if (next.networks[network] !== undefined) next = releaseAddress(next, context, network, ip)
  }
  return next
}

function setAddress(config: ConfigData, context: ChangeContext, uuid: string, ip: string, bit: '0' | '1'): ConfigData {
  const network = get(config, 'networks', uuid)
  const index = addressIndex(network, ip)
  // An instance may have an address outside its network's range, which has no place in the maps.
  if (index === undefined) return config
  const map = addressMap(network, 'reservations')
  if (map[index] === bit) return config
  const reservations = map.slice(0, index) + bit + map.slice(index + 1)
  return put(config, 'networks', touched({ ...network, reservations }, context))
}
