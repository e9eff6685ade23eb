// The addresses of a network: their index in the reservation maps, and whether they are taken. IPv4 only, as in Ganeti.
import { isIPv4 } from 'node:net'
import type { Network } from '../model/config'
import { ConfigurationError } from '../model/errors'

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

export const parseIp4 = (text: string): number | undefined =>
  isIPv4(text) ? text.split('.').reduce((number, part) => number * 256 + Number(part), 0) : undefined

export const formatIp4 = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
