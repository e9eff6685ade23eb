// Reserves and releases addresses that others use in a network's map, with Ganeti's complaints.
import { addressIndex, addressMap, isIn6, rangeOf } from '../../config/addresses'
import type { Network } from '../../model/config'
import { AddressPoolError, ECODE, OpPrereqError } from '../../model/errors'

const SMALLEST_BITS = 30
const LARGEST_BITS = 16

/** The network with its unusable addresses taken: its own, the broadcast address, and the gateway. */
export function initialPool(network: Network): Network {
  checkSize(network)
  const { size } = rangeOf(network)
  const pool = { ...network, reservations: '0'.repeat(size), ext_reservations: `1${'0'.repeat(size - 2)}1` }
  return network.gateway === undefined ? pool : reserved(pool, network.gateway)
}

function checkSize(network: Network): void {
  const { size } = rangeOf(network)
  if (size > 2 ** (32 - LARGEST_BITS))
    throw new AddressPoolError(
      `A big network with ${size} host(s) is currently not supported. please specify at most a /${LARGEST_BITS} network`,
    )
  if (size < 2 ** (32 - SMALLEST_BITS))
    throw new AddressPoolError(
      `A network with only ${size} host(s) is too small, please specify at least a /${SMALLEST_BITS} network`,
    )
}

export function reserved(network: Network, ip: string): Network {
  const index = indexOf(network, ip)
  const map = addressMap(network, 'ext_reservations')
  if (map[index] === '1') throw new AddressPoolError(`IP ${ip} is already externally reserved`)
  return marked(network, map, index, '1')
}

export function released(network: Network, ip: string): Network {
  const index = indexOf(network, ip)
  const map = addressMap(network, 'ext_reservations')
  if (map[index] !== '1') throw new AddressPoolError(`IP ${ip} is not externally reserved`)
  return marked(network, map, index, '0')
}

/** Throws if the IPv6 gateway is unreachable from the network. */
export function checkGateway6({ network6, gateway6 }: Pick<Network, 'network6' | 'gateway6'>): void {
  if (network6 === undefined || gateway6 === undefined) return
  if (!isIn6(network6, gateway6) && !isIn6('fe80::/10', gateway6))
    throw new OpPrereqError(
      `IPv6 gateway '${gateway6}' is neither in network ${network6} nor a link-local address`,
      ECODE.INVAL,
    )
}

const marked = (network: Network, map: string, index: number, bit: '0' | '1'): Network => ({
  ...network,
  ext_reservations: map.slice(0, index) + bit + map.slice(index + 1),
})

function indexOf(network: Network, ip: string): number {
  const index = addressIndex(network, ip)
  if (index === undefined) throw new AddressPoolError(`${network.network} does not contain ${ip}`)
  return index
}

/** Applies `step` to the network. If it fails, calls `complain` with the reason and keeps the network as it is. */
export function attempt(
  network: Network,
  step: (network: Network) => Network,
  complain: (why: string) => void,
): Network {
  try {
    return step(network)
  } catch (error) {
    if (!(error instanceof AddressPoolError)) throw error
    complain(error.message)
    return network
  }
}

/** Three octets, in lower case. */
export function macPrefix(input: string): string {
  if (!/^[0-9a-f]{2}(:[0-9a-f]{2}){2}$/i.test(input))
    throw new OpPrereqError(`Invalid MAC address prefix '${input}'`, ECODE.INVAL)
  if (parseInt(input, 16) % 2 === 1)
    throw new OpPrereqError(
      `Invalid MAC address prefix '${input}': its first byte is odd, which makes addresses of groups, and no NIC may have one`,
      ECODE.INVAL,
    )
  return input.toLowerCase()
}
