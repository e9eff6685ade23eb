import { isIPv6 } from 'node:net'

/** The addresses that count as one client: an IPv4 address, also when it is written as IPv6, or all of an IPv6 network of 64 bits. */
export function addressGroup(address: string): string {
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? []
  if (mapped !== undefined) return mapped
  const plain = address.replace(/%.*$/, '')
  if (!isIPv6(plain)) return address
  const [head = '', tail] = plain.split('::')
  const first = partsOf(head)
  const last = partsOf(tail ?? '')
  // The end may hold an IPv4 address, which is two parts; it is beyond the first four either way.
  const zeros = Array.from({ length: Math.max(8 - first.length - last.length, 0) }, () => '0')
  const network = [...first, ...(tail === undefined ? [] : zeros), ...last].slice(0, 4)
  return `${network.map((part) => parseInt(part, 16).toString(16)).join(':')}::/64`
}

const partsOf = (text: string): string[] => (text === '' ? [] : text.split(':'))
