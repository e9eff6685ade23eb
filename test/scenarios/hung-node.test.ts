// A node daemon that is stopped and neither answers nor refuses: who looks at the cluster sees all the rest of it, and at once. Every
// question here would take the node's whole limit of a minute if it waited, and with the first one the test would be over its time.
import * as fs from 'node:fs'
import { nodePaths } from '../../src/embedded/layout'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

let cluster: EmbeddedCluster
const signal = (name: NodeJS.Signals) =>
  process.kill(Number(fs.readFileSync(nodePaths(cluster.root, 'node2.gantry.local').pidFile('noded'), 'utf8')), name)

const add = (name: string, node: string) => ({
  OP_ID: 'OP_INSTANCE_CREATE',
  ...{ mode: 'create', instance_name: name, pnode: node, disk_template: 'sharedfile', disks: [{ size: 16 }], nics: [] },
  ...{ os_type: 'gantry-tiny', start: true, beparams: { memory: 32 }, ignore_ipolicy: true },
})

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  for (const [name, node] of [
    ['vm1', 'node1'],
    ['vm2', 'node2'],
  ] as const)
    expect((await cluster.run(add(name, node))).status).toBe('success')
  await observed('vm2', ({ status }) => status === 'running')
  signal('SIGSTOP')
}, 120_000)

afterAll(async () => {
  signal('SIGCONT')
  await cluster.remove()
}, 60_000)

interface Shown {
  status: string | null
  status_seen: string | null
}

async function displayed(name: string): Promise<Shown> {
  return (await cluster.rapi('GET', `/3/instances/${name}`)).body as Shown
}

async function observed(name: string, enough: (instance: Shown) => boolean): Promise<Shown> {
  for (;;) {
    const instance = await displayed(name)
    if (enough(instance)) return instance
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

test('lists mark what the node does not tell, and show the rest', async () => {
  const list = await cluster.gnt('instance', 'list', '--no-headers', '--separator=:', '-o', 'name,status,oper_ram')
  expect(list).toMatchObject({ code: 0, stdout: 'vm1:running:32\nvm2:ERROR_nodedown:?\n' })
  const nodes = await cluster.gnt('node', 'list', '--no-headers', '--separator=:', '-o', 'name,mtotal')
  expect(nodes.stdout).toMatch(/^node1.gantry.local:\d.*\nnode2.gantry.local:\?\nnode3.gantry.local:\d.*\n$/)
  const bulk = (await cluster.rapi('GET', '/2/instances?bulk=1')).body
  expect(bulk).toMatchObject([{ status: 'running' }, { status: 'ERROR_nodedown', oper_ram: null }])
  const requested = (await cluster.rapi('GET', '/3/instances?fields=name,status')).body
  expect(requested).toMatchObject({ items: [{ status: 'running' }, { name: 'vm2', status: 'ERROR_nodedown' }] })
}, 50_000)

test('the last known state is shown with its time, and the figures with their age', async () => {
  const before = await displayed('vm2')
  expect(before.status).toBe('running')
  const others = await observed('vm1', ({ status_seen }) => String(status_seen) > String(before.status_seen))
  expect(others.status).toBe('running')
  expect((await displayed('vm2')).status_seen).toBe(before.status_seen)
  const figures = String((await cluster.rapi('GET', '/metrics')).body)
  expect(figures).toMatch(/^ganeti_instance_oper_ram\{instance="vm2",.*\} 32$/m)
  const ageOf = (node: string) =>
    Number(new RegExp(`^gantry_node_answer_age_seconds\\{node="${node}.*\\} (.*)$`, 'm').exec(figures)?.[1])
  expect(ageOf('node2')).toBeGreaterThan(ageOf('node1'))
}, 50_000)

test('a check of the cluster tells that the node does not answer', async () => {
  const { code, stdout } = await cluster.gnt('cluster', 'verify')
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/node2.gantry.local: while contacting node: no answer within/),
  ])
  const info = await cluster.gnt('instance', 'info', 'vm2')
  expect(info.code).not.toBeNull()
}, 50_000)

test('a node that goes on is seen again by itself', async () => {
  const before = await displayed('vm2')
  signal('SIGCONT')
  await observed('vm2', ({ status_seen }) => status_seen !== before.status_seen)
  const list = await cluster.gnt('instance', 'list', '--no-headers', '--separator=:', '-o', 'name,status,oper_ram')
  expect(list.stdout).toBe('vm1:running:32\nvm2:running:32\n')
}, 50_000)
