// The addresses of a network. The reservation maps have one digit for each IPv4 address, as in Ganeti. IPv6 networks are too large for
// maps: there an address is taken if a NIC has it.
import { BlockList, SocketAddress, isIPv4, isIPv6 } from 'node:net'
import type { ConfigData, Instance, Network } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { type Index, recordFind, recordValues } from './records'

export interface AddressRange {
  /** The network's own address, as a number. */
  readonly base: number
  readonly size: number
}

export function rangeOf(network: Pick<Network, 'name' | 'network'>): AddressRange {
  const [address = '', length = ''] = network.network.split('/')
  const base = parseIp4(address)
  const bits = Number(length)
  if (base === undefined || !/^\d+$/.test(length) || bits > 32)
    throw new ConfigurationError(`Network ${network.name}: ${network.network} is not an IPv4 network`)
  const size = 2 ** (32 - bits)
  return { base: base - (base % size), size }
}

/** The address's index in the maps; undefined if it is not in the network. */
export function addressIndex(network: Pick<Network, 'name' | 'network'>, ip: string): number | undefined {
  const range = rangeOf(network)
  const number = parseIp4(ip)
  if (number === undefined) return undefined
  const index = number - range.base
  return index >= 0 && index < range.size ? index : undefined
}

/** Whether the address is in the IPv4 or the IPv6 part of the network. */
export const isInNetwork = (network: Network, ip: string): boolean =>
  isIPv6(ip) ? isIn6(network.network6, ip) : addressIndex(network, ip) !== undefined

export function isIn6(network6: string | undefined, ip: string): boolean {
  if (network6 === undefined) return false
  const [address = '', bits = ''] = network6.split('/')
  const list = new BlockList()
  list.addSubnet(address, Number(bits), 'ipv6')
  return list.check(ip, 'ipv6')
}

/** The only form in which an address is compared and stored. */
export const canonicalIp = (ip: string): string =>
  isIPv6(ip) ? new SocketAddress({ address: ip, family: 'ipv6' }).address : ip

export const addressAt = (network: Pick<Network, 'name' | 'network'>, index: number): string =>
  formatIp4(rangeOf(network).base + index)

/** The map; all addresses are free if there is none yet. */
export const addressMap = (network: Network, map: 'reservations' | 'ext_reservations'): string =>
  network[map] ?? '0'.repeat(rangeOf(network).size)

export function isReserved(network: Network, ip: string, options: { external: boolean }): boolean {
  const index = addressIndex(network, ip)
  if (index === undefined) return false
  if (addressMap(network, 'reservations')[index] === '1') return true
  return options.external && addressMap(network, 'ext_reservations')[index] === '1'
}

/** Who has an address of the network. */
export function ownerOf(config: ConfigData, network: Network, ip: string): 'an instance' | 'somebody else' | undefined {
  const isTaken = isIPv6(ip)
    ? { byInstance: hasNic6(config, network, ip), byOthers: isOwn6(config, network, ip) }
    : {
        byInstance: isReserved(network, ip, { external: false }),
        byOthers: isReserved(network, ip, { external: true }),
      }
  return isTaken.byInstance ? 'an instance' : isTaken.byOthers ? 'somebody else' : undefined
}

const byIp6: Index<Instance> = {
  textsOf: ({ nics }) => nics.flatMap(({ ip }) => (ip !== undefined && isIPv6(ip) ? canonicalIp(ip) : [])),
}

const hasNic6 = ({ instances }: ConfigData, { uuid }: Network, ip: string): boolean =>
  recordFind(instances, byIp6, canonicalIp(ip)).some(({ nics }) =>
    nics.some((nic) => nic.network === uuid && isSame(nic.ip, ip)),
  )

const isOwn6 = ({ cluster, nodes }: ConfigData, { gateway6 }: Network, ip: string): boolean =>
  [gateway6, cluster.master_ip, ...recordValues(nodes).map((node) => node.primary_ip)].some((own) => isSame(own, ip))

const isSame = (one: string | undefined, other: string): boolean =>
  one !== undefined && canonicalIp(one) === canonicalIp(other)

/** The first address that is neither in a map nor in `taken`. */
export function firstFreeAddress(network: Network, taken: ReadonlySet<string> = new Set()): string | undefined {
  const own = addressMap(network, 'reservations')
  const external = addressMap(network, 'ext_reservations')
  for (let index = 0; index < own.length; index++) {
    if (own[index] === '1' || external[index] === '1') continue
    const ip = addressAt(network, index)
    if (!taken.has(ip)) return ip
  }
  return undefined
}

const parseIp4 = (text: string): number | undefined =>
  isIPv4(text) ? text.split('.').reduce((number, part) => number * 256 + Number(part), 0) : undefined

export const formatIp4 = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
