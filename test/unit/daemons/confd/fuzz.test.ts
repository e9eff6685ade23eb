// Datagrams as strangers make them: questions that were changed a little, cut, glued together, and noise. Nothing breaks, nothing grows, and
// nobody is answered who did not sign. SEED=n runs another series.
import { startConfd } from '../../../../src/daemons/confd/server'
import { systemClock as clock } from '../../../../src/lib/clock'
import { environmentValue } from '../../../../src/lib/environment'
import { silentLog as log } from '../../../../src/lib/log'
import { seededRandom } from '../../../../src/lib/random'
import { ConfdAsker, signed } from '../../../support/confd-asker'
import { goldenConfig } from '../../../support/golden-query'
import { usedBytes } from '../../../support/used-memory'

const KEY = 'a key\n'
const SEED = Number(environmentValue('SEED') ?? 20)
const ROUNDS = 200
const AT_ONCE = 20
const random = seededRandom(SEED)
const pick = <T>(all: readonly T[], otherwise: T): T => all[random.below(all.length)] ?? otherwise

const QUERIES: readonly unknown[] = [
  ...[
    null,
    '',
    'node1',
    'inst2.gnt.example',
    '/',
    '/cluster',
    '/nodes/x',
    '/cluster/tags/0',
    '\u0000',
    'x'.repeat(3000),
  ],
  ...[5, -1, true, [], ['a'], {}, { '0': 'xen-br0', '1': '10.99.0.2' }, { '2': ['10.99.0.2', ''] }, { '3': [0, 1, 2] }],
  ...[{ '3': ['0', 7] }, { '1': {} }, { __proto__: null, constructor: 'x' }, { '2': Array(200).fill('1.2.3.4') }],
]
const TYPES: readonly unknown[] = [...Array(13).keys(), -1, 1.5, 1e30, '0', null, [], {}]

const message = () => ({
  ...{ protocol: pick<unknown>([1, 1, 1, 2, '1', null], 1), type: pick(TYPES, 0), query: pick(QUERIES, null) },
  rsalt: pick<unknown>(['salt', '', '\ud800', 'x'.repeat(900), 5, null], 'salt'),
})
const question = () => signed(pick([KEY, KEY, KEY, 'other', ''], KEY), message(), pick([0, 0, 0, -400, 400, 1e12], 0))

/** Never what was signed, so it must not be answered. */
function mutated(bytes: Buffer): Buffer {
  const at = random.below(bytes.length)
  const ways: (() => Buffer)[] = [
    () => bytes.subarray(0, at),
    () =>
      Buffer.concat([bytes.subarray(0, at), Buffer.from(random.hex(1 + random.below(40)), 'hex'), bytes.subarray(at)]),
    () => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(9))]),
    () => Buffer.from(bytes.map((byte, index) => (index === at ? byte ^ (1 << random.below(8)) : byte))),
    () => Buffer.from(`plj0${random.hex(random.below(2000))}`),
    () => Buffer.from(`plj0${'['.repeat(random.below(4090))}`),
    () => Buffer.alloc(random.below(60_000), 0x70),
  ]
  return pick(ways, () => bytes)()
}

test(`nothing that strangers send is answered or kept (seed ${SEED})`, async () => {
  const config = goldenConfig()
  const confd = await startConfd({ address: '127.0.0.1', port: 0, clock, log, key: () => KEY, config: () => config })
  const asker = new ConfdAsker(KEY, '127.0.0.1', confd.port)
  let before = 0
  for (let round = 0; round < ROUNDS; round++) {
    // Once everything was loaded and compiled.
    if (round === ROUNDS / 4) before = usedBytes()
    const honest = Array.from({ length: AT_ONCE / 4 }, question)
    await asker.exchange(...honest)
    const strange = Array.from({ length: AT_ONCE }, () => mutated(Buffer.from(signed('other', message()))))
    expect(await asker.exchange(...strange)).toEqual([])
    const touched = Buffer.from(signed(KEY, message()))
    const middle = touched.indexOf('"hmac":"') + 8 + random.below(40)
    touched[middle] = touched[middle] === 0x30 ? 0x31 : 0x30
    expect(await asker.exchange(touched)).toEqual([])
  }
  // If every datagram were kept, it would be some 40 MB.
  expect(usedBytes() - before).toBeLessThan(4 << 20)
  asker.close()
  await confd.close()
})
