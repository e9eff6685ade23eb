// Arithmetic on networks, apart from their shapes because it loads a library that most processes never need.
import { IPv4, IPv6, parseCIDR } from 'ipaddr.js'

/** Whether the network, which is well formed, is written with its first address. */
export function isFirstAddress(network: string): boolean {
  const [address] = parseCIDR(network)
  const family = address.kind() === 'ipv4' ? IPv4 : IPv6
  return address.toString() === family.networkAddressFromCIDR(network).toString()
}
