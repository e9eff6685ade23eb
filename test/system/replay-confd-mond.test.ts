// Recorded questions to a real cluster's confd, signed anew, and requests to its monitoring daemon, against those of an embedded cluster
// which begins in the same state; and Ganeti's own client of confd. Each answer must be the recorded one, or test/golden/differences.json
// lists the recording with a reason. Neither daemon changes anything, so both share the cluster.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { PORT } from '../../src/model/constants/daemons'
import type { NodeMonitoring } from '../../src/model/monitoring'
import { ConfdAsker, messageOf, signed } from '../support/confd-asker'
import type { EmbeddedCluster } from '../support/embedded-cluster'
import { GANETI_PROGRAMS, PYTHON, ganetiTest } from '../support/ganeti-programs'
import { startRecordedCluster } from '../support/recorded-state'
import { differences, verdict } from '../support/replay'
import { replayMond } from '../support/replay-mond'

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

test('confd answers as recorded, and is silent where Ganeti is', async () => {
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

test('the monitoring daemon answers as recorded', async () => {
  const { complaints, replayed } = await replayMond(cluster.address, PORT.mond)
  expect(complaints).toEqual([])
  expect(replayed).toBeGreaterThan(10)
})

test('the monitoring daemon knows the instances of its node from confd, and asks the simulator how they are', async () => {
  const response = await fetch(`http://${cluster.address}:${PORT.mond}/1/report/instance/inst-status`)
  const { data } = (await response.json()) as { data: { instances: object[] } }
  expect(data.instances).toMatchObject([
    { name: 'inst5.gnt.example', adminState: 'down', actualState: 'shutdown', status: { code: 0, message: '' } },
  ])
})

test('every simulated node has its own reports in the view of them all', async () => {
  const { stdout } = await cluster.gnt('cluster', 'monitor', '--json')
  const items = JSON.parse(stdout) as NodeMonitoring[]
  expect(items.map(({ answer, status, figures }) => [answer, status, figures?.storage?.name])).toEqual(
    items.map(() => ['reports', 0, 'xenvg']),
  )
  const memory = items.map(({ figures }) => Number(figures?.memory_total_bytes) / 2 ** 20)
  const listed = await cluster.gnt('node', 'list', '--no-headers', '--units=m', '-o', 'mtotal')
  expect(memory).toEqual(listed.stdout.trim().split('\n').map(Number))
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
