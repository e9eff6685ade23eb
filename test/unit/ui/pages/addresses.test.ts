// The map of addresses that the console shows of a network.
import { Addresses, ownersOf, rangesOf, reservedByHand } from '../../../../ui/src/pages/networks/addresses'

const small = (map: string) =>
  new Addresses({
    ...{ network: '10.0.0.0/29', map, gateway: '10.0.0.1', external: '10.0.0.0, 10.0.0.5, 10.0.0.7' },
    owners: ownersOf([['10.0.0.2', 'vm1']]),
  })

test('each address of a network is free, an instance’s, the gateway, or reserved by hand or otherwise', () => {
  const addresses = small('XXXX.X.X')
  const displayed = [0, 1, 2, 3, 4, 5, 7].map((index) => addresses.at(index))
  expect(displayed.map(({ text, kind, owner }) => [text, kind, owner])).toEqual([
    ['10.0.0.0', 'network', undefined],
    ['10.0.0.1', 'gateway', undefined],
    ['10.0.0.2', 'instance', 'vm1'],
    ['10.0.0.3', 'reserved', undefined],
    ['10.0.0.4', 'free', undefined],
    ['10.0.0.5', 'external', undefined],
    ['10.0.0.7', 'broadcast', undefined],
  ])
})

test('nobody has reserved the first and the last address by hand', () => {
  const source = { network: '10.0.0.0/29', map: 'XX...X.X', gateway: '10.0.0.1', owners: new Map<string, string>() }
  expect(reservedByHand({ ...source, external: '10.0.0.0, 10.0.0.1, 10.0.0.5, 10.0.0.7' })).toEqual(['10.0.0.5'])
  expect(reservedByHand({ ...source, external: '' })).toEqual([])
})

test('a network that begins in the middle of its range is shown from its first address', () => {
  const addresses = new Addresses({
    ...{ network: '192.168.255.130/25', map: 'X.', gateway: null, external: null, owners: new Map() },
  })
  expect(addresses.at(1).text).toBe('192.168.255.129')
})

test('a large network is shown in ranges of the same size that hold each address once, with how many are in use', () => {
  const map = `X${'.'.repeat(65_534)}X`
  const addresses = new Addresses({
    ...{ network: '10.20.0.0/16', map, gateway: null, external: null, owners: new Map() },
  })
  const ranges = rangesOf({ from: 0, to: addresses.count }, 256)
  expect(ranges).toHaveLength(256)
  expect(ranges.every(({ from, to }, at) => from === (ranges[at - 1]?.to ?? 0) && to - from === 256)).toBe(true)
  expect(ranges.map(({ from, to }) => addresses.used(from, to)).filter((used) => used > 0)).toEqual([1, 1])
  expect(addresses.at(65_535).text).toBe('10.20.255.255')
  expect(rangesOf({ from: 256, to: 512 }, 256).every(({ from, to }) => to - from === 1)).toBe(true)
})

test('addresses in use are listed up to a bound', () => {
  expect(
    small('XXXX...X')
      .usedOf(1, 8, 2)
      .map(({ text }) => text),
  ).toEqual(['10.0.0.1', '10.0.0.2'])
})

test('a network without IPv4 addresses has none', () => {
  const none = new Addresses({ network: null, map: null, gateway: null, external: null, owners: new Map() })
  expect([none.count, rangesOf({ from: 0, to: 0 }, 256)]).toEqual([0, []])
})
