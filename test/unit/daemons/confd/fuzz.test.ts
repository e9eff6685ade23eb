// Datagrams as strangers make them: questions that were changed a little, cut, glued together, and noise. Nothing breaks, nothing grows, and
// nobody is answered who did not sign.
import { type Confd, startConfd } from '../../../../src/daemons/confd/server'
import { systemClock as clock } from '../../../../src/lib/clock'
import { sha1Hmac } from '../../../../src/lib/hmac'
import { silentLog as log } from '../../../../src/lib/log'
import { seededRandom } from '../../../../src/lib/random'
import { ConfdAsker, signed } from '../../../support/confd-asker'
import { SEED, tries } from '../../../support/effort'
import { goldenConfig } from '../../../support/golden-query'
import { mutated, picker } from '../../../support/mutations'
import { usedBytes } from '../../../support/used-memory'

const KEY = 'a key\n'
const AT_ONCE = 20
const ROUNDS = tries(2_000, 1_000_000) / AT_ONCE
const random = seededRandom(SEED)
const pick = picker(random)

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

/** Mutated, or made of noise alone. */
function strange(): Buffer {
  const ways: readonly (() => Buffer)[] = [
    ...Array(6).fill(() => mutated(random, Buffer.from(signed(pick([KEY, 'other'], KEY), message())))),
    () => Buffer.from(`plj0${random.hex(random.below(2000))}`),
    () => Buffer.from(`plj0${'['.repeat(random.below(4090))}`),
    () => Buffer.alloc(random.below(60_000), 0x70),
  ]
  return pick(ways, () => Buffer.alloc(0))()
}

/** A change need not break what was signed: a line end more is as good. */
function isAuthentic(datagram: Buffer): boolean {
  const text = datagram.toString('utf8')
  try {
    const { msg, salt, hmac } = JSON.parse(text.slice(4)) as Record<string, unknown>
    return text.startsWith('plj0') && String(hmac).toLowerCase() === sha1Hmac(KEY, String(msg), String(salt))
  } catch {
    return false
  }
}

let confd: Confd
let asker: ConfdAsker
beforeAll(async () => {
  const config = goldenConfig()
  confd = await startConfd({ address: '127.0.0.1', port: 0, clock, log, key: () => KEY, config: () => config })
  asker = new ConfdAsker(KEY, '127.0.0.1', confd.port)
})
afterAll(async () => {
  asker.close()
  await confd.close()
})

test(`nothing that strangers send is answered or kept (SEED=${SEED})`, async () => {
  let before = 0
  for (let round = 0; round < ROUNDS; round++) {
    // Once everything was loaded and compiled.
    if (round === Math.ceil(ROUNDS / 4)) before = usedBytes()
    const honest = Array.from({ length: AT_ONCE / 4 }, question)
    await asker.exchange(...honest)
    const datagrams = Array.from({ length: AT_ONCE }, strange)
    const answers = await asker.exchange(...datagrams)
    if (answers.length > datagrams.filter(isAuthentic).length)
      throw new Error(`a stranger was answered in round ${round}: ${answers.join('\n')}`)
  }
  // If every datagram were kept, it would be some 40 MB.
  expect(usedBytes() - before).toBeLessThan(4 << 20)
})
