// The addresses that belong to one client, for limits of each client.
import { isIP } from 'node:net'
import * as ipaddr from 'ipaddr.js'

/** The addresses that count as one client: an IPv4 address, also when it is written as IPv6, or all of an IPv6 network of 64 bits. */
export function addressGroup(text: string): string {
  if (isIP(text) === 0) return text
  const address = ipaddr.process(text)
  if (!(address instanceof ipaddr.IPv6)) return address.toString()
  const network = address.parts.slice(0, 4)
  return `${network.map((part) => part.toString(16)).join(':')}::/64`
}
