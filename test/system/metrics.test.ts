// The last hours of a node and of a real virtual machine, which moves, while monitoring daemons are started anew and hang.
import * as fs from 'node:fs'
import { nodePaths } from '../../src/embedded/layout'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { qemuPresent, qemuTest } from '../support/needs'

const [NODE1, NODE2] = ['node1.gantry.local', 'node2.gantry.local'] as const

let cluster: EmbeddedCluster
const pidOf = (node: string) => Number(fs.readFileSync(nodePaths(cluster.root, node).pidFile('mond'), 'utf8'))

beforeAll(async () => {
  if (!qemuPresent) return
  cluster = await startCluster(['--hypervisor', 'kvm'])
  const made = await cluster.run({
    ...{ OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'vm1', mode: 'create', disk_template: 'sharedfile' },
    ...{ disks: [{ size: 16 }], nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, start: true },
    ...{ pnode: NODE1, hypervisor: 'kvm' },
  })
  expect(made).toMatchObject({ status: 'success' })
})
afterAll(async () => {
  if (qemuPresent) await cluster.remove()
})

interface Told {
  readonly times: readonly string[]
  readonly nodes: readonly string[]
  readonly missing: readonly { node: string }[]
  readonly memory_bytes: readonly (number | null)[]
  readonly load: readonly (number | null)[]
}

async function metrics(of: string): Promise<Told | undefined> {
  const { status, body } = await cluster.rapi('GET', `/3/${of}/metrics`)
  return status === 200 ? (body as Told) : undefined
}

/** Its successor measures at once. */
async function restarted(node: string, of: string, enough: (reported: Told) => boolean): Promise<Told> {
  process.kill(pidOf(node), 'SIGTERM')
  for (;;) {
    const reported = await metrics(of)
    if (reported !== undefined && enough(reported)) return reported
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

qemuTest('a node has measured since it was started, and a monitoring daemon that is started anew goes on', async () => {
  const before = (await metrics(`nodes/${NODE1}`))?.times.length ?? 0
  expect(before).toBeGreaterThan(0)
  const { load, times } = await restarted(NODE1, `nodes/${NODE1}`, ({ times }) => times.length > before)
  expect(load.every((value) => value !== null)).toBe(true)
  const { body } = await cluster.rapi('GET', `/3/nodes/${NODE1}/metrics?since=${times[0]}`)
  expect((body as Told).times).toEqual(times.slice(1))
  expect((await cluster.rapi('GET', `/3/nodes/${NODE1}/metrics?since=noon`)).status).toBe(400)
})

qemuTest('what an instance was busy with before a migration stays known', async () => {
  const { memory_bytes, nodes } = await restarted(NODE1, 'instances/vm1', ({ times }) => times.length > 0)
  expect([...new Set(nodes)]).toEqual([NODE1])
  expect(memory_bytes[0]).toBeGreaterThan(1 << 20)
  const move = { OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'vm1', target_node: NODE2 }
  expect(await cluster.run(move)).toMatchObject({ status: 'success' })
  const after = await restarted(NODE2, 'instances/vm1', (reported) => reported.nodes.includes(NODE2))
  expect(after.nodes).toContain(NODE1)
  expect(after.missing).toEqual([])
})

qemuTest('a node whose monitoring daemon hangs is an error that says so', async () => {
  const pid = pidOf(NODE2)
  process.kill(pid, 'SIGSTOP')
  try {
    const { status, body } = await cluster.rapi('GET', '/3/instances/vm1/metrics')
    expect([status, body]).toEqual([
      503,
      expect.objectContaining({ detail: expect.stringContaining(`Node ${NODE2} does not tell its last hours`) }),
    ])
  } finally {
    process.kill(pid, 'SIGCONT')
  }
})
