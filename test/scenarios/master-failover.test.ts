// Another node becomes the master: of a cluster that runs, of one whose master died, and of one whose master hangs and wakes up.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { isServed } from '../../src/lib/net/json-socket'
import type { Master } from '../../src/rpc/luxi/master'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { type EmbeddedCluster, runJob, startCluster } from '../support/embedded-cluster'
import { type SeparateNodes, separateNodes } from '../support/separate-nodes'

const delayOn = (node: string, duration: number): WireOpCode => ({
  ...{ OP_ID: 'OP_TEST_DELAY', duration, on_master: false, on_nodes: [node], no_locks: false, reason: [] },
})
const statusOf = async (master: Master, job: number) => (await master.queryJobs([job], ['status']))[0]?.[0]
const admin = { user: 'admin', token: null, permissions: ['events.query'] }
const epochOf = async (master: Master) => {
  const page = await master.gantry?.events(admin, { after: null, types: [], objects: [], timeout_s: 0 })
  return page?.last.split('-')[0]
}

describe('a cluster of separate nodes', () => {
  let cluster: SeparateNodes
  beforeEach(async () => {
    cluster = await separateNodes(3)
    // The others first: the master's daemons need their votes.
    await Promise.all([cluster.start(2), cluster.start(3)])
    await cluster.start(1)
  })
  afterEach(() => cluster.remove())

  const masterOf = (number: number) => fs.readFileSync(cluster.paths(number).ssconf('master_node'), 'utf8').trim()
  const servesAsMaster = async (number: number) => {
    const { paths } = cluster
    return (await isServed(paths(number).socket('query'))) || (await isServed(paths(number).socket('wconfd')))
  }

  test('goes on with another master after the death of its own, which finds that it is none any more', async () => {
    const before = cluster.luxi(1)
    const disk = ['-t', 'diskless', '--no-install', '--no-start', '--no-nics', '--ignore-ipolicy']
    const options = ['-o', 'gantry-tiny', '-n', 'node1', ...disk]
    const added = await cluster.gnt(1, 'instance', 'add', ...options, 'inst1.example.com')
    expect(added).toMatchObject({ code: 0, stderr: '' })
    const running = await before.submitJob([delayOn('node3.example.com', 600)])
    await reaches(before, running, 'running')
    const waiting = await before.submitJob([delayOn('node3.example.com', 0.1)])
    await reaches(before, waiting, 'waiting')
    const epoch = await epochOf(before)

    cluster.signal(1, 'SIGKILL')
    const failover = await cluster.gnt(2, 'cluster', 'master-failover')
    expect(failover.stderr).toMatch(/Could not disable the master role on the old master node1\.example\.com/)
    expect(failover).toMatchObject({ code: 0, stdout: '' })

    const after = cluster.luxi(2)
    expect((await cluster.gnt(2, 'instance', 'list', '--no-headers', '-o', 'name')).stdout).toBe('inst1.example.com\n')
    expect(await statusOf(after, 1)).toBe('success')
    expect(await statusOf(after, running)).toBe('error')
    await reaches(after, waiting, 'success')
    expect(await epochOf(after)).not.toBe(epoch)
    expect((await runJob(after, delayOn('node3.example.com', 0.01))).status).toBe('success')

    await cluster.start(1)
    expect(await servesAsMaster(1)).toBe(false)
    expect(await cluster.gnt(2, 'cluster', 'redist-conf')).toMatchObject({ code: 0 })
    expect([1, 2, 3].map(masterOf)).toEqual(Array(3).fill('node2.example.com'))
    const refused = await cluster.gnt(2, 'cluster', 'master-failover')
    expect(refused.stderr).toContain('node2.example.com is already the master')
    // And back again: the old master has the whole configuration and queue.
    await retry(async () =>
      expect(await cluster.gnt(1, 'cluster', 'master-failover')).toEqual({ code: 0, stdout: '', stderr: '' }),
    )
    expect(await statusOf(cluster.luxi(1), waiting)).toBe('success')
    expect(await epochOf(cluster.luxi(1))).not.toBe(epoch)
    expect(await servesAsMaster(2)).toBe(false)
  })

  test('has one master after its own hung, was replaced, and woke up', async () => {
    cluster.signal(1, 'SIGSTOP')
    const failover = await cluster.gnt(2, 'cluster', 'master-failover')
    expect(failover).toMatchObject({ code: 0, stderr: expect.stringContaining('no answer within') })
    const last = await runJob(cluster.luxi(2), delayOn('node3.example.com', 0.01))
    expect(last.status).toBe('success')
    cluster.signal(1, 'SIGCONT')
    await retry(async () => {
      expect(await cluster.gnt(2, 'cluster', 'redist-conf')).toMatchObject({ code: 0 })
      expect(masterOf(1)).toBe('node2.example.com')
    })
    expect(await servesAsMaster(1)).toBe(false)
    expect([2, 3].map(masterOf)).toEqual(Array(2).fill('node2.example.com'))
    expect((await runJob(cluster.luxi(2), delayOn('node1.example.com', 0.01))).status).toBe('success')
  })

  test('gets no master without the majority, unless it is forced to', async () => {
    cluster.signal(1, 'SIGKILL')
    cluster.signal(3, 'SIGKILL')
    const refused = await cluster.gnt(2, 'cluster', 'master-failover')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /majority of nodes are still healthy.*Unhealthy nodes: node1\S+, node3\.example\.com\n$/s,
    )
    expect(await servesAsMaster(2)).toBe(false)
    expect(await cluster.gnt(2, 'cluster', 'master-failover', '--no-voting')).toMatchObject({ code: 1 })
    expect(await cluster.gnt(2, 'cluster', 'master-failover', '--no-voting', '--yes-do-it')).toMatchObject({ code: 0 })
    expect(await cluster.gnt(2, 'cluster', 'getmaster')).toMatchObject({ stdout: 'node2.example.com\n' })
  })
})

test('an embedded cluster follows its master: gnt, the remote API, a stop and the next start', async () => {
  const embedded: EmbeddedCluster = await startCluster(['--hypervisor', 'fake'])
  const [first, second] = ['node1.gantry.local', 'node2.gantry.local']
  const gnt = (...words: string[]) => embedded.gnt('--node', 'node2', ...words)
  try {
    const finished = await embedded.run(delayOn(first, 0.01))
    expect(finished.status).toBe('success')
    const unknown = await embedded.gnt('--node', 'node9', 'cluster', 'master-failover')
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining(`its nodes are ${first}, ${second}`) })
    expect(await gnt('cluster', 'master-failover')).toEqual({ code: 0, stdout: '', stderr: '' })
    await retry(async () => {
      expect(embedded.output()).toContain(`${second} is the master now; ${embedded.url} leads there`)
      expect(JSON.parse(fs.readFileSync(path.join(embedded.root, 'embedded.json'), 'utf8'))).toMatchObject({
        socket: expect.stringContaining(`/${second}/`),
      })
    })
    await retry(async () => expect((await embedded.rapi('GET', '/2/info')).body).toMatchObject({ master: second }))
    expect(await gnt('cluster', 'getmaster')).toMatchObject({ code: 0, stdout: `${second}\n` })
    expect(await gnt('job', 'list', '--no-headers', '-o', 'id,status')).toMatchObject({ stdout: '1 success\n' })
    expect(await embedded.stop()).toBe(0)
    await embedded.restart()
    expect((await embedded.rapi('GET', '/2/info')).body).toMatchObject({ master: second })
    expect(await embedded.gnt('cluster', 'verify')).toMatchObject({ code: 0 })
  } finally {
    await embedded.remove()
  }
})

async function reaches(master: Master, job: number, status: string): Promise<void> {
  await retry(async () => {
    const [now, ...why] = (await master.queryJobs([job], ['status', 'opresult', 'oplog']))[0] ?? []
    expect(`${String(now)} ${JSON.stringify(why)}`).toMatch(new RegExp(`^${status} `))
  })
}

async function retry<T>(action: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await action()
    } catch (error) {
      if (attempt === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
}
