// Requests as strangers make them: good ones that were changed a little, cut, glued together, and noise. Each connection is answered in HTTP
// or closed, nothing breaks, and nothing grows.
import { once } from 'node:events'
import * as net from 'node:net'
import { History } from '../../../../src/collectors/history/history'
import { Monitor } from '../../../../src/collectors/monitor'
import { type Mond, startMond } from '../../../../src/daemons/mond/server'
import { systemClock as clock } from '../../../../src/lib/clock'
import { silentLog as log } from '../../../../src/lib/log'
import { thisMachine } from '../../../../src/lib/machine'
import { seededRandom } from '../../../../src/lib/random'
import { SEED, tries } from '../../../support/effort'
import { mutated, picker } from '../../../support/mutations'
import { usedBytes } from '../../../support/used-memory'
import { nodeSources } from '../../../support/node-sources'

const AT_ONCE = 200
const ROUNDS = tries(1_000, 100_000) / AT_ONCE
/** A connection that says nothing for so long would be one that nobody closes. */
const PATIENCE_MS = 20_000
const random = seededRandom(SEED)
const pick = picker(random)

const PATHS = [
  ...[
    '/',
    '/1',
    '/1/',
    '/1/list/collectors',
    '/1/report/all',
    '/1/report/all?category=node&names=one',
    '/1/collectors',
  ],
  ...['/1/report/node/one', '/1/report/node/one?verbose=0', '/1/report/default/two', '/1/report/x/y', '/metrics'],
  ...['/docs/openapi.json', '/docs/', '/%00', '/1/report/%ff/..%2f', `/${'x'.repeat(3000)}`, '/?names=__proto__', '*'],
]
const HEADERS = [
  ...[
    'Accept: text/html',
    'Accept: */*',
    'Connection: close',
    'Connection: Upgrade\r\nUpgrade: websocket',
    'X: \u00ff',
  ],
  ...['Content-Length: 3', 'Content-Length: -1', 'Transfer-Encoding: chunked', 'Expect: 100-continue', ' folded'],
]
const BODIES = ['', '', '', '{}', '3\r\nabc\r\n0\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n']

const request = (): Buffer => {
  const path = pick(PATHS, '/')
  if (random.below(2) === 0) {
    const target = mutated(random, Buffer.from(path))
      .toString('latin1')
      .replaceAll(/[^!-~]/g, encodeURIComponent)
    return Buffer.from(`GET ${target} HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n`)
  }
  const headers = Array.from({ length: random.below(3) }, () => `${pick(HEADERS, '')}\r\n`).join('')
  const line = `${pick(['GET', 'GET', 'GET', 'HEAD', 'POST', 'get', 'PRI'], 'GET')} ${path} HTTP/1.1`
  const whole = `${line}\r\nHost: node\r\nConnection: close\r\n${headers}\r\n${pick(BODIES, '')}`
  return mutated(random, Buffer.from(whole, 'latin1'))
}

/** A 500 would be a mistake of ours, and a 503 a connection that was kept too long. */
const GOOD = /^HTTP\/1\.1 (?!500|503)[1-5]\d\d /

/** What comes back when these bytes are sent; the connection is closed in the end, by whichever side. */
async function sent(bytes: Buffer): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => undefined).setTimeout(PATIENCE_MS, () => socket.destroy())
  socket.end(bytes)
  await once(socket, 'close')
  return text
}

const history = new History({ sources: nodeSources({}), log, save: () => Promise.resolve() })
let monitor: Monitor
let mond: Mond
let port = 0
beforeAll(async () => {
  monitor = new Monitor({ clock, log, sign: (text) => ({ signed: text.length }) })
  const one = { kind: 'status', category: 'node', interval_s: 60, cost_ms: 1 } as const
  const data = { status: { code: 0, message: '' }, more: 'x'.repeat(1000) }
  monitor.watch([
    { ...one, name: 'one', open: () => ({ collect: () => Promise.resolve(data) }) },
    { ...one, name: 'two', category: null, open: () => ({ collect: () => Promise.reject(new Error('broken')) }) },
  ])
  mond = await startMond({
    ...{
      files: thisMachine.files,
      monitor,
      history,
      clock,
      log,
      random: seededRandom(1),
      hostname: 'node',
      accessLog: 'none',
    },
    ...{ addresses: ['127.0.0.1'], port: 0, named: () => Promise.resolve(undefined), configAge_s: () => undefined },
  })
  port = mond.addresses[0]?.port ?? 0
})
afterAll(async () => {
  monitor.close()
  await mond.close()
})

test(`strangers are answered in HTTP or not at all, and nothing of them is kept (SEED=${SEED})`, async () => {
  let before = 0
  let served = 0
  for (let round = 0; round < ROUNDS; round++) {
    // Once everything was loaded and compiled.
    if (round === Math.ceil(ROUNDS / 4)) before = usedBytes()
    const all = Array.from({ length: AT_ONCE }, request)
    const answers = await Promise.all(all.map(sent))
    answers.forEach((answer, at) => {
      if (answer.startsWith('HTTP/1.1 200 ')) served++
      if (answer === '' || GOOD.test(answer)) return
      throw new Error(`in round ${round} the answer to ${JSON.stringify(all[at]?.toString('latin1'))} was: ${answer}`)
    })
    expect(await (await fetch(`http://127.0.0.1:${port}/1/report/all`)).json()).toHaveLength(2)
  }
  // Enough of them get as far as to a report.
  expect(served).toBeGreaterThan((ROUNDS * AT_ONCE) / 20)
  // If every request were kept with its answer, it would be several times that.
  expect(usedBytes() - before).toBeLessThan(4 << 20)
})
