// Recorded questions to a real cluster's confd, signed anew, against that of an embedded one which begins in the same state; and
// Ganeti's own client. Each answer must be the recorded one, or test/golden/differences.json lists the recording with a reason.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PORT } from '../../src/model/constants/daemons'
import { ConfdAsker, messageOf, signed } from '../support/confd-asker'
import type { EmbeddedCluster } from '../support/embedded-cluster'
import { GANETI_PROGRAMS, PYTHON, ganetiTest } from '../support/ganeti-programs'
import { startRecordedCluster } from '../support/recorded-state'
import { differences, verdict } from '../support/replay'

const folder = path.join(__dirname, '../golden/confd')
/** When the recordings were made, to the second or so. */
const RECORDED_S = 1795232506

let cluster: EmbeddedCluster
let asker: ConfdAsker
beforeAll(async () => {
  cluster = await startRecordedCluster(715)
  const key = fs.readFileSync(path.join(cluster.root, 'node1.gnt.example/var/lib/ganeti/hmac.key'), 'utf8')
  asker = new ConfdAsker(key, cluster.address, PORT.confd)
})
afterAll(async () => {
  asker.close()
  await cluster.remove()
})

test('answers as recorded, and is silent where Ganeti is', async () => {
  const complaints: string[] = []
  const names = fs.readdirSync(folder).sort()
  for (const file of names) {
    const recording = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')) as Recording
    const [answer] = await asker.exchange(again(recording.request))
    const [want, got] = [recording.response || undefined, answer].map((text) => text && messageOf(text))
    complaints.push(...verdict(`confd/${file.replace('.json', '')}`, differences(want ?? null, got ?? null)))
  }
  expect(complaints).toEqual([])
  expect(names.length).toBeGreaterThan(30)
})

ganetiTest("Ganeti's confd-client gets all of its answers", () => {
  const node = 'node1.gnt.example'
  const env = { ...process.env, GANETI_ROOTDIR: path.join(cluster.root, node), GANETI_HOSTNAME: node }
  const args = [path.join(GANETI_PROGRAMS, 'confd-client'), '--address', cluster.address, '--requests', '5']
  const { stdout, stderr, status } = spawnSync(PYTHON, args, { env, encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
  const said = stdout.split('\n').filter((line) => /(OK|request)\b/.test(line))
  expect(said.map((line) => line.replace(/[\d.]+ms/, 'N ms').trim())).toEqual([
    ...['- Ping: OK', '- Master: OK (node1.gnt.example)'],
    "- Master: OK (['node1.gnt.example', '198.51.100.1', '198.51.100.11'])",
    ...['- Node role for master: OK', '- Node primary ip query: OK', '- Master candidates primary IP query: OK'],
    ...['- Instance primary IP query: OK', '- Instance IP to node IP query: OK'],
    ...['* N ms per ping request', '* N ms per instance ips request'],
  ])
})

interface Recording {
  readonly request: string
  /** Empty where there was none. */
  readonly response: string
}

/** Signed anew, as far from the right time as it was; what was no question stays as it is. */
function again(request: string): string {
  try {
    const { msg, salt } = JSON.parse(request.slice(4)) as { msg: string; salt: string }
    const away_s = Number(salt) - RECORDED_S
    return signed(asker.key, msg, Math.abs(away_s) < 60 ? 0 : away_s, request.slice(0, 4))
  } catch {
    return request
  }
}
