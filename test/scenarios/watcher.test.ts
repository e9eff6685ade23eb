// Hosts that come back: their instances run again, each once, whatever was killed; and nothing runs that people have stopped.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { lockFile } from '../../src/lib/file/lock'
import type { WatcherReport } from '../../src/rpc/luxi/watcher-report'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'
import { eventually, killHard, NODES, pause, processesOf, wholeAgain } from '../support/faults'
import { qemuTest } from '../support/needs'

/** Seconds for instances to be there again; a loaded machine needs more than the ten that users are promised. */
const AGAIN_S = 60

let cluster: EmbeddedCluster
const ok = async (words: string): Promise<string> => {
  const { code, stdout, stderr } = await cluster.gnt(...words.split(' '))
  expect({ words, code, stderr }).toMatchObject({ words, code: 0 })
  return stdout
}
const add = (name: string, node: string, more = '') =>
  ok(
    `instance add -t sharedfile --disk 0:size=4m -o gantry-tiny -B memory=64m -n ${node} ${more} ${name}`.replace(
      / +/g,
      ' ',
    ),
  )
const guests = () =>
  processesOf(cluster.root).flatMap(({ role, node, pid }) => {
    if (role !== 'qemu') return []
    const name = /\0-name\0([^\0,]*)/.exec(fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8'))?.[1] ?? '?'
    return [{ name: name, node }]
  })
const runningOn = (node: string) =>
  guests()
    .flatMap((guest) => (guest.node === node ? [guest.name] : []))
    .sort()
const statuses = async () =>
  Object.fromEntries(
    (await cluster.master.queryInstances([], ['name', 'status'], false)).map(([name, status]) => [name, status]),
  )

/** The power of a machine fails: all of its processes are gone at the same moment, as far as that can be done. */
async function loseHost(node: string): Promise<void> {
  const all = processesOf(cluster.root).filter((one) => one.node === node)
  await Promise.all(all.map(({ pid }) => killHard(pid)))
}

const info = async () => JSON.parse(await ok('cluster watcher --json info')) as { groups: WatcherReport[] }

qemuTest(
  'the instances of a host that comes back run again, each once, and what people have stopped stays down',
  async () => {
    cluster = await startCluster(['--hypervisor', 'kvm'])
    try {
      const [master = '', second = ''] = NODES
      await ok('cluster modify --user-shutdown yes')
      for (const name of ['a1', 'a2']) await add(name, 'node2')
      await add('m1', 'node1')
      await add('down', 'node2')
      await add('user', 'node2', '-H kvm:user_shutdown=true')
      await ok('instance shutdown --timeout 0 down')
      const control = path.join(cluster.root, second, 'var/run/ganeti/kvm-hypervisor')
      await killGuest('user')
      fs.writeFileSync(path.join(control, 'ctrl', 'user.shutdown'), '')

      await loseHost(second)
      await eventually('its instances run', () => runningOn(second).join() === 'a1,a2', AGAIN_S)
      await loseHost(master)
      await eventually('the instances of the master run', () => runningOn(master).join() === 'm1', AGAIN_S)
      await wholeAgain(cluster)
      // QEMU starts as two processes, of which one ends.
      const all = () => guests().map(({ name }) => name)
      await eventually('each runs once', () => all().sort().join() === 'a1,a2,m1', AGAIN_S)
      const [down, user] = await eventually('the user of an instance has his way', async () => {
        const now = await statuses()
        return [now['down'], now['user']]
      })
      expect(down).toBe('ADMIN_down')
      expect(['ADMIN_down', 'USER_down']).toContain(user)
      // A run tells when its jobs have ended; the master may have died before that. A later run that found nothing may
      // have told since, so what was started again is looked for in what is kept.
      const events = path.join(cluster.root, master, 'var/lib/ganeti/gantry-events.data')
      const RESTARTED = /"type":"watcher","objects":\["group\/default","instance\/.*"restarted":\["/
      await eventually('the watcher has told', () => RESTARTED.test(fs.readFileSync(events, 'utf8')))
      expect((await info()).groups).toMatchObject([{ name: 'default', error: null }])
      const { body } = await cluster.rapi('GET', '/metrics')
      expect(body).toMatch(/^gantry_watcher_outcomes_total\{outcome="restarted"\} \d/m)
    } finally {
      await cluster.remove()
    }
  },
)

async function killGuest(name: string): Promise<void> {
  const guest = processesOf(cluster.root).find(
    ({ role, pid }) => role === 'qemu' && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-name\0${name}`),
  )
  await killHard(guest?.pid ?? 0)
}

describe('a cluster whose instances are pretended', () => {
  const fake = (node: string) => path.join(cluster.root, node, 'var/run/ganeti/fake-hypervisor')
  const runs = (name: string) => NODES.filter((node) => fs.existsSync(path.join(fake(node), name)))
  const crash = (name: string) => {
    for (const node of runs(name)) fs.rmSync(path.join(fake(node), name))
  }
  /** The program as scripts call it, on the master. */
  const watch = (...words: string[]) => {
    const [hostname = ''] = NODES
    const program = path.join(__dirname, '../../bin/ganeti-watcher')
    const env = { ...process.env, GANETI_ROOTDIR: path.join(cluster.root, hostname), GANETI_HOSTNAME: hostname }
    return spawnSync(process.execPath, [program, ...words], { env, encoding: 'utf8' }).status
  }

  beforeAll(async () => {
    cluster = await startCluster(['--hypervisor', 'fake'])
    // maintd would be faster.
    await ok('cluster maintenance settings restart=no')
    await add('vm1', 'node2')
    await add('vm3', 'node3')
  })
  afterAll(() => cluster.remove())

  test('a watcher that is paused does nothing, unless it is told to all the same', async () => {
    await ok('cluster watcher pause 1h')
    crash('vm1')
    expect([watch(), runs('vm1')]).toEqual([0, []])
    expect(await ok('cluster watcher info')).toMatch(/^The watcher is paused until /)
    expect([watch('--ignore-pause'), runs('vm1')]).toEqual([0, NODES.slice(1, 2)])
    await ok('cluster watcher continue')
  })

  test('nobody runs while somebody holds the lock', async () => {
    crash('vm1')
    const file = path.join(cluster.root, NODES[0] ?? '', 'var/lock/ganeti-watcher.lock')
    const lock = await lockFile(file, 'exclusive')
    expect([watch(), runs('vm1')]).toEqual([0, []])
    lock?.release()
    await eventually('the lock is free', () => watch() === 0 && runs('vm1').length === 1)
  })

  test('what administrators have stopped stays down; jobs say who wanted them, and the files who runs', async () => {
    await ok('instance shutdown --timeout 0 vm3')
    crash('vm1')
    expect([watch(), runs('vm1').length, runs('vm3')]).toEqual([0, 1, []])
    const jobs = await cluster.master.query('job', ['summary', 'ops'], null)
    const started = jobs.data.find(([summary]) => JSON.stringify(summary?.[1]) === '["INSTANCE_STARTUP(vm1)"]')
    expect(JSON.stringify(started)).toContain('["gnt:watcher","Restarting instance vm1",')
    const status = fs.readFileSync(path.join(cluster.root, NODES[0] ?? '', 'var/run/ganeti/instance-status'), 'utf8')
    expect(status).toBe('vm1 ERROR_down\nvm3 ADMIN_down')
    await ok('instance startup vm3')
  })

  test('instances of a node that is offline are left alone, and all run when it is back', async () => {
    await ok('node modify --offline yes node3')
    crash('vm3')
    expect([watch(), runs('vm3')]).toEqual([0, []])
    const op = { OP_ID: 'OP_NODE_SET_PARAMS', node_name: 'node3', offline: false }
    expect(await cluster.run(op)).toMatchObject({ status: 'success' })
    expect([watch(), runs('vm3')]).toEqual([0, NODES.slice(2)])
  })

  test('a node that comes and goes gets its instances back a few times, and is named', async () => {
    const [, second = ''] = NODES
    const noded = () => processesOf(cluster.root).find(({ role, node }) => role === 'noded' && node === second)
    const events = path.join(cluster.root, NODES[0] ?? '', 'var/lib/ganeti/gantry-events.data')
    for (let times = 0; ; times++) {
      if (fs.readFileSync(events, 'utf8').includes('"change":"flapping"')) break
      expect(times).toBeLessThan(20)
      const { pid = 0 } = noded() ?? {}
      crash('vm1')
      await killHard(pid)
      await eventually('it is back', () => noded() !== undefined && noded()?.pid !== pid)
      await pause(3)
    }
    crash('vm1')
    await killHard(noded()?.pid ?? 0)
    await eventually('it is back', noded)
    await pause(5)
    expect(runs('vm1')).toEqual([])
    expect([watch(), runs('vm1')]).toEqual([0, [second]])
  })
})
