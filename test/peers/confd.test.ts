// Our collectors ask Ganeti's own confd whose disks they see.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { drbd } from '../../src/collectors/storage/drbd'
import { lv } from '../../src/collectors/storage/lv'
import type { NodeSources } from '../../src/collectors/report'
import { machineSources } from '../../src/collectors/sources'
import { thisMachine } from '../../src/lib/machine'
import { systemClock } from '../../src/lib/clock'
import { pathsOf } from '../../src/lib/paths'
import { systemRandom } from '../../src/lib/random'
import { PORT } from '../../src/model/constants/daemons'
import { ConfdClient } from '../../src/rpc/confd/client'
import { MIRRORED_INSTANCE, copyMirroredState } from '../support/mirrored-state'
import { HTOOLS_PACKAGE } from '../support/htools'
import { testWith } from '../support/needs'

const CONFD = path.join(__dirname, '../../.cache/ganeti-programs/ganeti-confd')
const NODE = 'node2.gnt.example'
const DATA = path.join(__dirname, '../data/collectors')
const present = fs.existsSync(CONFD) && process.getuid?.() === 0
const address = `127.${randomInt(16, 250)}.${randomInt(0, 256)}.7`

let base: string
let disk: string
let confd: ChildProcess

beforeAll(async () => {
  if (!present) return
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'confd-'))
  const root = path.join(base, NODE)
  for (const folder of ['lib', 'log', 'run'])
    fs.mkdirSync(path.join(root, 'var', folder, 'ganeti'), { recursive: true })
  disk = copyMirroredState(path.join(root, 'var/lib/ganeti'))
  fs.writeFileSync(path.join(root, 'var/lib/ganeti/hmac.key'), 'a key\n')
  confd = spawn(CONFD, ['-f', '--no-user-checks', '-b', address], {
    env: { ...process.env, GANETI_ROOTDIR: root, GANETI_HOSTNAME: NODE },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await new Promise<void>((resolve, reject) => {
    let said = ''
    confd.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('Starting up')) resolve()
    })
    confd.once('exit', (code) => reject(new Error(`confd ended with ${code}: ${said}`)))
  })
})

afterAll(async () => {
  if (!present) return
  await new Promise((resolve) => {
    confd.once('exit', resolve)
    confd.kill('SIGTERM')
  })
  fs.rmSync(base, { recursive: true })
})

testWith(present, `${HTOOLS_PACKAGE} && sh test/peers/ganeti-programs.sh`)(
  'minors and volumes get the name of their instance',
  async () => {
    const volumes = path.join(base, 'lvs')
    const recorded = fs.readFileSync(path.join(DATA, 'lvs_lv.txt'), 'utf8')
    fs.writeFileSync(volumes, recorded.replace(/;[^;]*\.disk0_data;/, `;${disk}.data;`))
    const rows = await lv.open(sources(), { file: volumes }).collect()
    expect((rows as { instance?: string }[]).map(({ instance }) => instance)).toEqual([MIRRORED_INSTANCE, undefined])
    const mirrors = await drbd.open(sources(), { 'drbd-status': path.join(DATA, 'proc_drbd84.txt') }).collect()
    const [first, second] = (mirrors as { deviceInfos: { minor: number; instance: unknown }[] }).deviceInfos
    expect([first, second]).toMatchObject([
      { minor: 0, instance: MIRRORED_INSTANCE },
      { minor: 1, instance: null },
    ])
  },
)

function sources(): NodeSources {
  const client = new ConfdClient({
    ...{ key: 'a key\n', servers: [address], port: PORT.confd, clock: systemClock, random: systemRandom },
    warn: (text) => {
      throw new Error(text)
    },
  })
  return {
    clock: systemClock,
    hostname: NODE,
    paths: { ...pathsOf('', NODE), instanceReasonDir: '/none' },
    ...machineSources(thisMachine),
    read: (file) => fs.promises.readFile(file, 'utf8'),
    run: () => Promise.reject(new Error('nothing to run')),
    backEnd: () => {
      throw new Error('no back end to ask')
    },
    ask: (question, query) => client.ask(question, query),
    candidateClocks: () => Promise.resolve([]),
    warn: (text) => {
      throw new Error(text)
    },
  }
}
