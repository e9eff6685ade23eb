// Addresses and networks are read in each way that they can be written.
import * as fc from 'fast-check'
import { ipv4Network, ipv6Network } from '../../../src/opcodes/addresses'
import { checkProperty } from '../../support/effort'

const BITS = { 4: 32, 6: 128 } as const

/** An address in the form that has a group for each 8 or 16 bits. */
function written(family: 4 | 6, bits: bigint): string {
  const [width, base, separator] = family === 4 ? [8, 10, '.'] : [16, 16, ':']
  const groups = BITS[family] / width
  const mask = (1n << BigInt(width)) - 1n
  const at = (group: number) => (bits >> BigInt(width * (groups - 1 - group))) & mask
  return Array.from({ length: groups }, (_, group) => at(group).toString(base)).join(separator)
}

test.each([4, 6] as const)('a network of IPv%s is written with its first address and no other', (family) => {
  const shape = family === 4 ? ipv4Network : ipv6Network
  const bits = BITS[family]
  const input = fc.tuple(fc.bigInt({ min: 0n, max: (1n << BigInt(bits)) - 1n }), fc.integer({ min: 0, max: bits }))
  checkProperty(
    fc.property(input, ([address, length]) => {
      const hostBits = BigInt(bits - length)
      const first = (address >> hostBits) << hostBits
      const text = `${written(family, first)}/${length}`
      expect(shape.parse(text)).toBe(text)
      if (first !== address)
        expect(() => shape.parse(`${written(family, address)}/${length}`)).toThrow(/has host bits set/)
    }),
  )
})

test('each way to write an IPv6 address is read', () => {
  checkProperty(
    fc.property(fc.ipV6(), (address) => {
      expect(ipv6Network.parse(`${address}/128`)).toBe(`${address}/128`)
    }),
  )
})
