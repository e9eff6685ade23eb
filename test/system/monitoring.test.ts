// The central view of the nodes' monitoring, over the monitoring daemons of an embedded cluster, which die and hang.
import * as fs from 'node:fs'
import { nodePaths } from '../../src/embedded/layout'
import type { NodeMonitoring } from '../../src/model/monitoring'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const NODE = 'node2.gantry.local'
const SIGNALLED = ['node', 'mond']

let cluster: EmbeddedCluster
const signal = (role: string, name: NodeJS.Signals) =>
  process.kill(Number(fs.readFileSync(nodePaths(cluster.root, NODE).pidFile(role), 'utf8')), name)

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
})
afterAll(async () => {
  for (const role of SIGNALLED) signal(role, 'SIGCONT')
  await cluster.remove()
})

async function nodes(query = ''): Promise<NodeMonitoring[]> {
  const { status, body } = await cluster.rapi('GET', `/3/monitoring${query}`)
  expect(status).toBe(200)
  return (body as { items: NodeMonitoring[] }).items
}

/** The nodes, once this one is as the test wants it. */
async function once(enough: (node: NodeMonitoring) => boolean): Promise<NodeMonitoring[]> {
  for (;;) {
    const all = await nodes('?fields=node,answer,status,problems,figures')
    const one = all.find(({ node }) => node === NODE)
    if (one !== undefined && enough(one)) return all
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

const answers = (all: readonly NodeMonitoring[]) => all.map(({ node, answer }) => [node, answer])
const [NODE1, NODE3] = ['node1.gantry.local', 'node3.gantry.local']

test('all nodes tell their reports and figures', async () => {
  const all = await once(({ answer, figures }) => answer === 'reports' && figures?.cpu_load !== null)
  expect(all.map(({ figures }) => typeof figures?.load)).toEqual(['number', 'number', 'number'])
  const [whole] = await nodes(`?node=node2&category=daemon`)
  expect(whole).toMatchObject({ node: NODE, reports: [{ name: 'daemons', data: { daemons: expect.any(Array) } }] })
})

interface ToldDaemon {
  readonly name: string
  readonly figures: object | null
}

test('the daemons of the master tell what they have to do', async () => {
  const wanted = {
    luxid: ['jobs_queued', 'jobs_begun', 'jobs_ended'],
    wconfd: ['lock_owners', 'lock_requests_waiting', 'config_serial'],
    ...{ rapi: ['requests'], mond: ['requests'], noded: ['calls'], confd: ['answers'] },
  }
  // The first look was before all of them had started.
  for (let told: Record<string, string[] | null> = {}; ;) {
    const [master] = await nodes('?node=node1&collector=daemons')
    const { daemons } = master?.reports?.[0]?.data as { daemons: ToldDaemon[] }
    told = Object.fromEntries(daemons.map(({ name, figures }) => [name, figures && Object.keys(figures)]))
    if (Object.keys(wanted).every((name) => Array.isArray(told[name]))) return expect(told).toMatchObject(wanted)
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}, 60_000)

test('a monitoring daemon that was killed is one line that says so, until it is back', async () => {
  // Its parent would start it again at once.
  signal('node', 'SIGSTOP')
  signal('mond', 'SIGKILL')
  const dead = await once(({ answer }) => answer !== 'reports')
  expect(answers(dead)).toEqual([
    [NODE1, 'reports'],
    [NODE, 'refused'],
    [NODE3, 'reports'],
  ])
  const { code, stdout } = await cluster.gnt('cluster', 'monitor', '--no-headers', '-n', 'node2')
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^node2\.gantry\.local unknown .* nothing listens on /)])
  const seen = new RegExp(`^gantry_node_monitoring_up\\{node="${NODE}".*\\} 0$`, 'm')
  expect(String((await cluster.rapi('GET', '/metrics')).body)).toMatch(seen)
  signal('node', 'SIGCONT')
  await once(({ answer }) => answer === 'reports')
})

test('one that hangs holds up nobody, and is told as silent until it answers again', async () => {
  signal('mond', 'SIGSTOP')
  const hung = await once(({ answer }) => answer !== 'reports')
  expect(answers(hung)).toEqual([
    [NODE1, 'reports'],
    [NODE, 'silent'],
    [NODE3, 'reports'],
  ])
  signal('mond', 'SIGCONT')
  await once(({ answer }) => answer === 'reports')
})
