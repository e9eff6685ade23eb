// Groups addresses by client, for limits per client.
import { isIP } from 'node:net'
import * as ipaddr from 'ipaddr.js'

/** The group of an address: an IPv4 address (also if written as IPv6), or a whole IPv6 network of 64 bits. */
export function addressGroup(text: string): string {
  if (isIP(text) === 0) return text
  const address = ipaddr.process(text)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const network = address.parts.slice(0, 4)
  return `${network.map((part) => part.toString(16)).join(':')}::/64`
}
