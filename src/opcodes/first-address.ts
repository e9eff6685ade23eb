// Arithmetic on networks. It is in a file of its own because it loads a library that most processes never need.
import { IPv4, IPv6, parseCIDR } from 'ipaddr.js'

/** Whether a well-formed network is written with its first address. */
export function isFirstAddress(network: string): boolean {
  const [address] = parseCIDR(network)
  const family = address.kind() === 'ipv4' ? IPv4 : IPv6
  return address.toString() === family.networkAddressFromCIDR(network).toString()
}
