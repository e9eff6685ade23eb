// The central view of the nodes' monitoring, over the monitoring daemons of an embedded cluster, which die and hang.
import * as fs from 'node:fs'
import { nodePaths } from '../../src/embedded/layout'
import type { NodeMonitoring } from '../../src/model/monitoring'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const NODE = 'node2.gantry.local'

let cluster: EmbeddedCluster
const signal = (role: string, name: NodeJS.Signals) =>
  process.kill(Number(fs.readFileSync(nodePaths(cluster.root, NODE).pidFile(role), 'utf8')), name)

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
})
afterAll(() => cluster.remove())
/** Whatever happens, nothing stays stopped. */
const afterThis: (() => void)[] = []
afterEach(() => {
  for (const undo of afterThis.splice(0)) undo()
})

async function nodes(query = ''): Promise<NodeMonitoring[]> {
  const { status, body } = await cluster.rapi('GET', `/3/monitoring${query}`)
  expect(status).toBe(200)
  return (body as { items: NodeMonitoring[] }).items
}

const [NODE1, NODE3] = ['node1.gantry.local', 'node3.gantry.local']

/** The nodes, once all are as the test wants them: on a busy machine any of them may be late for once. */
async function once(enough: (node: NodeMonitoring) => boolean): Promise<NodeMonitoring[]> {
  for (;;) {
    const all = await nodes('?fields=node,answer,status,problems,figures')
    if (all.length === 3 && all.every(enough)) return all
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Until this node answers so, and the others with their reports. */
const answered = (how: NodeMonitoring['answer']) =>
  once(({ node, answer }) => answer === (node === NODE ? how : 'reports'))

test('all nodes tell their reports and figures', async () => {
  const all = await once(({ figures }) => typeof figures?.load === 'number' && figures.cpu_load !== null)
  expect(all.map(({ node, answer }) => [node, answer])).toEqual([NODE1, NODE, NODE3].map((node) => [node, 'reports']))
  const [whole] = await nodes(`?node=node2&category=daemon`)
  expect(whole).toMatchObject({ node: NODE, reports: [{ name: 'daemons', data: { daemons: expect.any(Array) } }] })
})

test('the volume group in user space is there, and has room', async () => {
  const [node] = await nodes('?node=node2&category=storage')
  const reported = node?.reports?.find(({ name }) => name === 'storage')
  const group = { type: 'lvm-vg', name: 'xenvg', status: { code: 0, message: '' }, details: { in_user_space: true } }
  expect(reported).toMatchObject({ data: { storages: expect.arrayContaining([expect.objectContaining(group)]) } })
})

interface ToldDaemon {
  readonly name: string
  readonly figures: object | null
}

test('the daemons of the master tell what they have to do', async () => {
  const desired = {
    luxid: ['jobs_queued', 'jobs_begun', 'jobs_ended'],
    wconfd: ['lock_owners', 'lock_requests_waiting', 'config_serial'],
    ...{ rapi: ['requests'], mond: ['requests'], noded: ['calls'], confd: ['answers'] },
  }
  // The first look was before all of them had started.
  for (let reported: Record<string, string[] | null> = {}; ;) {
    const [master] = await nodes('?node=node1&collector=daemons')
    const { daemons } = master?.reports?.[0]?.data as { daemons: ToldDaemon[] }
    reported = Object.fromEntries(daemons.map(({ name, figures }) => [name, figures && Object.keys(figures)]))
    if (Object.keys(desired).every((name) => Array.isArray(reported[name])))
      return expect(reported).toMatchObject(desired)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
})

test('a monitoring daemon that was killed is one line that says so, until it is back', async () => {
  // Its parent would start it again at once.
  signal('node', 'SIGSTOP')
  signal('mond', 'SIGKILL')
  afterThis.push(() => signal('node', 'SIGCONT'))
  await answered('refused')
  const { code, stdout } = await cluster.gnt('cluster', 'monitor', '--no-headers', '-n', 'node2')
  // A question may have been under way just then.
  const why = /^node2\.gantry\.local unknown .* (nothing listens on|closed the connection) /
  expect([code, stdout]).toEqual([1, expect.stringMatching(why)])
  const observed = new RegExp(`^gantry_node_monitoring_up\\{node="${NODE}".*\\} 0$`, 'm')
  expect(String((await cluster.rapi('GET', '/metrics')).body)).toMatch(observed)
  signal('node', 'SIGCONT')
  await answered('reports')
})

test('one that hangs holds up nobody, and is told as silent until it answers again', async () => {
  signal('mond', 'SIGSTOP')
  afterThis.push(() => signal('mond', 'SIGCONT'))
  await answered('silent')
  signal('mond', 'SIGCONT')
  await answered('reports')
})
