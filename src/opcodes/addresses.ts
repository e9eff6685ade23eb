// Shapes of addresses and networks, with Ganeti's names for them.
import { isIPv4, isIPv6 } from 'node:net'
import { text } from '../lib/shapes/leaves'
import { VALUE } from '../model/constants/words'
import { Explained, type Shape, refine } from '../lib/shapes/shape'

/** An address with a zone, such as fe80::1%eth0, only means something on one machine. */
export function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

export const ipv4Address = address('IPv4Address', 'ipv4', isIPv4)
export const ipv6Address = address('IPv6Address', 'ipv6', isPlainIPv6)
export const ipv4Network = network('IPv4Network', isIPv4, 32)
export const ipv6Network = network('IPv6Network', isPlainIPv6, 128)

/** For what can be taken away: the word `none`, or an empty text. */
export const orNone = (shape: Shape<string>): Shape<string> => ({
  ...shape,
  schema: { type: 'string' },
  parse: (value, files) => (value === '' || value === VALUE.none ? VALUE.none : shape.parse(value, files)),
})

function address(name: string, format: string, accepts: (value: string) => boolean): Shape<string> {
  return refine(text, { format }, accepts, (value) => `${JSON.stringify(value)} is no valid ${name}`)
}

/** A network's name is its first address. Any other address is a mistake in the address or the length. */
function network(name: string, isAddress: (text: string) => boolean, bits: number): Shape<string> {
  const written = address(name, 'cidr', (value) => isNetwork(value, isAddress, bits))
  return {
    ...written,
    parse(value) {
      const read = written.parse(value)
      // Loaded only when somebody creates a network.
      const { isFirstAddress }: typeof import('./first-address') = require('./first-address')
      if (isFirstAddress(read)) return read
      throw new Explained(`${JSON.stringify(read)} has host bits set, a network is written with its first address`)
    },
  }
}

function isNetwork(value: string, isAddress: (text: string) => boolean, bits: number): boolean {
  const [host, length, ...more] = value.split('/')
  if (host === undefined || host.includes('%') || length === undefined || more.length > 0) return false
  return isAddress(host) && /^\d{1,3}$/.test(length) && Number(length) <= bits
}
