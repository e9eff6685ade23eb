// Requests as broken or curious guests make them: none is answered with a mistake of ours, and none brings what another instance may know.
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { type RunningMetad, startMetad } from '../../../../src/daemons/metad/server'
import { systemClock as clock } from '../../../../src/lib/clock'
import { systemDisk } from '../../../../src/lib/disk'
import { systemFiles } from '../../../../src/lib/files'
import { silentLog } from '../../../../src/lib/log'
import { pathsOf } from '../../../../src/lib/paths'
import { seededRandom } from '../../../../src/lib/random'
import { openMetad } from '../../../../src/rpc/metad/client'
import { SEED, tries } from '../../../support/effort'
import { mutated, picker } from '../../../support/mutations'

/** Fewer than an instance may have. */
const AT_ONCE = 15
const ROUNDS = Math.ceil(tries(300, 60_000) / AT_ONCE)
/** How long a connection is given, once whole requests that came later have their answers. */
const PATIENCE_MS = 100
const SECRET = 'not-for-strangers'
const random = seededRandom(SEED)
const pick = picker(random)

const LATEST = '/ganeti/latest'
const PATHS = [
  ...['/', `${LATEST}/meta_data.json`, `${LATEST}/os/parameters.json`, `${LATEST}/os/os-install-package`, '*'],
  ...[`${LATEST}/os/scripts/create`, `${LATEST}/os/scripts/%2e%2e%2fsecret`, `${LATEST}/read`, `${LATEST}/write`],
  ...['/nocloud/user-data', '/nocloud/../ganeti/latest/read', `/${'x'.repeat(9000)}`, '/%00', '/%ff', '//'],
]
const WHOLE = 'GET / HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n'
const HEADERS = [
  ...['X-Forwarded-For: 169.254.0.2', 'Forwarded: for=169.254.0.2', 'X-Real-IP: 169.254.0.2', 'Connection: close'],
  ...['Content-Length: 3', 'Content-Length: -1', 'Transfer-Encoding: chunked', 'Expect: 100-continue', ' folded'],
]

function request(): Buffer {
  if (random.below(2) === 0) {
    const good = pick(PATHS, '/')
    const other = mutated(random, Buffer.from(good))
      .toString('latin1')
      .replaceAll(/[^!-~]/g, encodeURIComponent)
    const target = random.below(2) === 0 ? good : other
    return Buffer.from(`GET ${target} HTTP/1.1\r\nHost: node\r\n${pick(HEADERS, '')}\r\nConnection: close\r\n\r\n`)
  }
  const headers = Array.from({ length: random.below(4) }, () => `${pick(HEADERS, '')}\r\n`).join('')
  const line = `${pick(['GET', 'GET', 'POST', 'PUT', 'HEAD', 'get'], 'GET')} ${pick(PATHS, '/')} HTTP/1.1`
  const whole = Buffer.from(`${line}\r\nHost: 169.254.169.254\r\nConnection: close\r\n${headers}\r\nabc`, 'latin1')
  return random.below(3) === 0 ? whole : mutated(random, whole)
}

/** The answers to some requests at once. A busy machine is given its time: the patience begins when it has answered others. */
async function sent(where: net.NetConnectOpts, requests: readonly Buffer[]): Promise<string[]> {
  const all = requests.map((bytes) => requested(where, bytes))
  for (let time = 0; time < 2; time++) await requested(where, Buffer.from(WHOLE)).answer
  for (const { socket } of all) socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  return Promise.all(all.map(({ answer }) => answer))
}

function requested(where: net.NetConnectOpts, bytes: Buffer): { socket: net.Socket; answer: Promise<string> } {
  const socket = net.connect(where)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => undefined).write(bytes)
  return { socket, answer: once(socket, 'close').then(() => text) }
}

let root: string
let metad: RunningMetad
beforeAll(async () => {
  root = fs.mkdtempSync(path.join(os.tmpdir(), 'm-'))
  const paths = pathsOf(path.join(root, 'n'), 'n')
  fs.writeFileSync(path.join(root, 'secret'), SECRET)
  metad = await startMetad({
    ...{ paths, log: silentLog, clock, random: seededRandom(1), files: systemFiles, disk: systemDisk },
    ...{ addresses: ['127.0.0.1'], port: 0, accessLog: 'none', isOwn: () => Promise.resolve(true) },
    node: {
      script: (_os, name) => Promise.resolve(path.join(root, 'scripts', name)),
      installPackage: () => Promise.resolve(undefined),
    },
  })
  const guests: readonly [name: string, ip: string, osparams: Readonly<Record<string, string>>][] = [
    ['one', '169.254.0.1', { own: 'value' }],
    ['two', '169.254.0.2', { other: SECRET }],
  ]
  for (const [name, ip, osparams] of guests) {
    const nics = [{ uuid: 'n', mac: 'm', name: `ganeti:communication:${name}`, ip, nicparams: {} }]
    const instance = { name, uuid: name, os: 'debian', nics, disks_info: [], osparams, osparams_secret: osparams }
    await openMetad({ path: paths.socket('metad'), clock }).updateConfig(instance)
  }
})
afterAll(async () => {
  await metad.close()
  fs.rmSync(root, { recursive: true })
})

test(`whatever a guest or a stranger sends, it hears of nobody else (SEED=${SEED})`, async () => {
  const guest = { path: path.join(root, 'n/var/run/ganeti/socket/metad/169.254.0.1') }
  const stranger = { port: metad.addresses[0]?.port ?? 0, host: '127.0.0.1' }
  let served = 0
  for (let round = 0; round < ROUNDS; round++) {
    const all = Array.from({ length: AT_ONCE }, request)
    const isGuest = round % 3 !== 0
    const answers = await sent(isGuest ? guest : stranger, all)
    answers.forEach((answer, at) => {
      if (answer.startsWith('HTTP/1.1 200 ')) served++
      // A stranger is told that there is nothing, or that it speaks no HTTP.
      const good = isGuest ? /^(HTTP\/1\.1 (?!5)\d\d\d |$)/ : /^(HTTP\/1\.1 (100 Continue|4\d\d |505 )|$)/
      if (good.test(answer) && !answer.includes(SECRET) && (isGuest || !/^HTTP\/1\.1 2/m.test(answer))) return
      throw new Error(`in round ${round} the answer to ${JSON.stringify(all[at]?.toString('latin1'))} was: ${answer}`)
    })
  }
  // Enough of them get as far as to an answer.
  expect(served).toBeGreaterThan((ROUNDS * AT_ONCE) / 60)
})
