// hbal on a cluster that lives: it shows, writes and carries out its moves, and lets itself be interrupted between them.
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const HBAL = path.join(__dirname, '../../bin/hbal.js')
const INSTANCES = ['vm1', 'vm2', 'vm3', 'vm4', 'vm5', 'vm6']

let cluster: EmbeddedCluster

beforeAll(async () => {
  cluster = await startCluster(['--hypervisor', 'fake'])
  for (const instance_name of INSTANCES) {
    await run('OP_INSTANCE_CREATE', {
      ...{ instance_name, mode: 'create', disk_template: 'sharedfile', disks: [{ size: 16 }], file_driver: 'loop' },
      ...{ nics: [], os_type: 'gantry-tiny', beparams: { memory: 64 }, pnode: 'node1.gantry.local', start: true },
    })
  }
})

afterAll(() => cluster.remove())

test('it only shows what it would do, as commands, as tables and in a script', async () => {
  const script = path.join(cluster.root, 'moves.sh')
  const { code, out, err } = await Hbal.start('-C', '-p').end()
  expect(code).toBe(0)
  expect(out).toMatch(/^Loaded 3 nodes, 6 instances\nGroup size 3 nodes, 6 instances\nSelected node group: default\n/)
  expect(out).toMatch(/\n {4}1\. vm\d node1\.gantry\.local +=> (node[23]\.gantry\.local) +[\d.]+ a=fa:\1\n/)
  expect(out).toMatch(
    /\n {2}echo jobset 1, 1 jobs\n {4}echo job 1\/1\n {4}gnt-instance migrate -f -n node[23]\.gantry\.local vm\d\n/,
  )
  expect(err).toMatch(/\nInitial cluster status:\n F Name .*\n(.*\n)+\n\nFinal cluster status:\n/)
  const written = await Hbal.start(`-C${script}`, '-l1').end()
  expect(written.out).toContain(`The commands have been written to file '${script}'\n`)
  expect(fs.readFileSync(script, 'utf8')).toMatch(
    /^#!\/bin\/sh\n[^]*\n {2}check\n {2}gnt-instance migrate -f -n node\d\.gantry\.local vm\d\n$/,
  )
  expect(await primaries()).toEqual(INSTANCES.map(() => 'node1'))
})

test('told to stop once, it ends after the jobs that run, and says what is left', async () => {
  const moved = await whileHeld(async (release) => {
    const hbal = Hbal.start('-X', '--reason=a test', '--priority=low')
    const id = await hbal.job()
    hbal.child.kill('SIGINT')
    await hbal.says('Cancel request registered, will exit at the end of the current job set...\n')
    await release()
    const { code, out } = await hbal.end()
    expect(code).toBe(0)
    expect(out).toMatch(/\nExiting early due to user request, \n1jobset\(s\) submitted: \n/)
    expect(out).toMatch(
      new RegExp(`Executing jobset for instances vm\\d: job ${id} success\n[1-9] jobset\\(s\\) not submitted:\n`),
    )
    const [job] = await cluster.master.queryJobs([id], ['status', 'ops'])
    const [status, ops] = job ?? []
    expect(status).toBe('success')
    expect(JSON.stringify(ops)).toMatch(/"priority":10,.*\["hbal","a test",/)
    return (await primaries()).filter((node) => node !== 'node1')
  })
  expect(moved).toHaveLength(1)
})

test.each(['SIGTERM', 'SIGINT'] as const)(
  'told to stop by %s a second time, it is gone at once, and its job stays',
  async (signal) => {
    await whileHeld(async () => {
      const hbal = Hbal.start('-X')
      const id = await hbal.job()
      hbal.child.kill('SIGINT')
      await hbal.says('Cancel request registered')
      hbal.child.kill(signal)
      const { code, out } = await hbal.end()
      expect(code).toBe(2)
      expect(out).toMatch(/\nDouble cancel request, exiting now\.\.\.\n$/)
      expect(await cluster.master.queryJobs([id], ['status'])).toEqual([['queued']])
      await cluster.master.cancelJob(id, false)
    })
  },
)

test('it carries everything out, one set of jobs after the other, and finds nothing to do afterwards', async () => {
  const { code, out } = await Hbal.start('-X').end()
  expect(code).toBe(0)
  const moves = Number(/Solution length=(\d+)/.exec(out)?.[1])
  expect(out.match(/^Got job IDs \d+$/gm)).toHaveLength(moves)
  expect(out).toMatch(/Cluster score improved from/)
  expect((await primaries()).sort()).toEqual(['node1', 'node1', 'node2', 'node2', 'node3', 'node3'])
  // The nodes measure their free memory at different moments, so a trace of imbalance may be left that no move betters.
  expect((await Hbal.start().end()).out).toMatch(
    /^(Cluster is already well balanced .*\n(.*\n){2}Nothing to do, exiting|No solution found\nSolution length=0)\n$/m,
  )
})

test('a job that fails ends it, with its number', async () => {
  await run('OP_NODE_SET_PARAMS', { node_name: 'node2', drained: true })
  await whileHeld(async (release) => {
    const hbal = Hbal.start('-X', '-E')
    const id = await hbal.job()
    await cluster.master.cancelJob(id, false)
    await release()
    const { code, err } = await hbal.end()
    expect(code).toBe(1)
    expect(err).toContain(`\nError: Not all jobs completed successfully: job ${id}: canceled\nAborting.\n\n`)
  })
  await run('OP_NODE_SET_PARAMS', { node_name: 'node2', drained: false })
})

test('an evacuation moves what is on a drained node, and nothing else', async () => {
  const before = await primaries()
  await run('OP_NODE_SET_PARAMS', { node_name: 'node2', drained: true })
  const { code } = await Hbal.start('-X', '--evac-mode').end()
  expect(code).toBe(0)
  const after = await primaries()
  expect(after).not.toContain('node2')
  before.forEach((node, at) => node === 'node2' || expect(after[at]).toBe(node))
  await run('OP_NODE_SET_PARAMS', { node_name: 'node2', drained: false })
})

test('where there are several node groups, one must be named', async () => {
  await run('OP_GROUP_ADD', { group_name: 'other' })
  const empty = async () => (await primaries()).includes('node2')
  expect(await empty()).toBe(false)
  await run('OP_GROUP_ASSIGN_NODES', { group_name: 'other', nodes: ['node2'], force: true })
  const unnamed = await Hbal.start('-X').end()
  expect(unnamed).toMatchObject({
    code: 1,
    err: expect.stringMatching(/\nFound multiple node groups:\n {2}default\n {2}other\nError: Aborting\.\n$/),
  })
  const wrong = await Hbal.start('-Gnone').end()
  expect(wrong.err).toContain(
    '\nNode group none not found. Node group list is:\n  default\n  other\nError: Aborting.\n',
  )
  const { code, out } = await Hbal.start('-X', '-Gdefault').end()
  expect(code).toBe(0)
  expect(out).toContain('Group size 2 nodes, 6 instances\nSelected node group: default\n')
  expect(await primaries()).not.toContain('node2')
})

async function run(OP_ID: string, params: Readonly<Record<string, unknown>>): Promise<void> {
  expect(await cluster.run({ OP_ID, ...params })).toMatchObject({ status: 'success' })
}

async function primaries(): Promise<string[]> {
  const { data } = await cluster.master.query('instance', ['pnode'], null)
  return data.map(([cell]) => String(cell?.[1]).replace(/\..*/, ''))
}

/** While nothing that migrates may start, until it is released. */
async function whileHeld<T>(act: (release: () => Promise<void>) => Promise<T>): Promise<T> {
  const held = [['opcode', ['=', 'OP_ID', 'OP_INSTANCE_MIGRATE']]]
  const uuid = await cluster.master.replaceFilter(null, 0, held, 'PAUSE', [])
  let released = false
  const release = async () => {
    if (!released) await cluster.master.deleteFilter(uuid)
    released = true
  }
  try {
    return await act(release)
  } finally {
    await release()
  }
}

class Hbal {
  private out = ''
  private err = ''
  private readonly ended: Promise<number | null>
  private heard: () => void = () => undefined

  private constructor(readonly child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.out += chunk
      this.heard()
    })
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (this.err += chunk))
    this.ended = new Promise((resolve) => child.once('close', resolve))
    void this.ended.then(() => this.heard())
  }

  static start(...args: string[]): Hbal {
    return new Hbal(
      spawn(process.execPath, [HBAL, `-L${cluster.socket}`, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
    )
  }

  async end(): Promise<{ code: number | null; out: string; err: string }> {
    const code = await this.ended
    return { code, out: this.out, err: this.err }
  }

  /** The first job that it submitted. */
  async job(): Promise<number> {
    return Number((await this.says(/Got job IDs (\d+)\n/))?.[1])
  }

  /** Until this was said; or the end, whatever was. */
  async says(what: string | RegExp): Promise<RegExpExecArray | null> {
    const found = () =>
      typeof what === 'string' ? (this.out.includes(what) ? /^/.exec('') : null) : what.exec(this.out)
    while (found() === null && this.child.exitCode === null) {
      await new Promise<void>((resolve) => (this.heard = resolve))
    }
    return found()
  }
}
