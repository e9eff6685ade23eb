// `npm start` as a user sees it: a cluster of three nodes on one machine, from its start to its end.
import { spawnSync } from 'node:child_process'
import { randomInt, X509Certificate } from 'node:crypto'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { PORT } from '../../src/model/constants/daemons'
import { USAGE } from '../../src/embedded/usage'
import { EMBEDDED_NODES_MAX } from '../../src/model/limits/embedded'
import { belonging } from '../../src/model/owners'
import type { WireOpCode } from '../../src/rpc/luxi/calls'
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster'

const ENTRY = path.join(__dirname, '../../bin/gantryd.js')
const START = path.join(__dirname, '../../scripts/start.mjs')

/** The certificate that the server of this URL shows. */
const shownBy = (url: string) =>
  new Promise<X509Certificate>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = tls.connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw))
      socket.destroy()
    })
    socket.on('error', reject)
  })

const start = (...args: string[]) =>
  spawnSync(process.execPath, [ENTRY, 'embedded', ...args], { encoding: 'utf8', timeout: 60_000 })

/** Processes whose command line or environment names the root. */
const processesOf = (root: string): string[] =>
  fs.readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || pid === String(process.pid)) return []
    try {
      const text = fs.readFileSync(`/proc/${pid}/environ`, 'utf8') + fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return text.includes(root) ? [pid] : []
    } catch {
      return []
    }
  })

/** Files below the root that do not have the owner and the mode that Ganeti gives them. */
const misplaced = (root: string): string[] =>
  fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const file = path.join(root, name)
    const found = belonging(file)
    const stat = fs.lstatSync(file, { throwIfNoEntry: false })
    if (found === undefined || stat === undefined || stat.isSymbolicLink()) return []
    const { mode, owner = { uid: process.getuid?.(), gid: process.getgid?.() } } = found
    const right = (stat.mode & 0o7777) === mode && stat.uid === owner.uid && stat.gid === owner.gid
    return right ? [] : [`${name} ${(stat.mode & 0o7777).toString(8)} ${stat.uid}:${stat.gid}`]
  })

describe('an embedded cluster', () => {
  let cluster: EmbeddedCluster
  beforeAll(async () => {
    cluster = await startCluster(['--hypervisor', 'fake'])
  })
  afterAll(() => cluster.remove())

  test('says last, for machines, where it listens', () => {
    const lines = cluster.output().trimEnd().split('\n')
    const { url, socket, address } = cluster
    expect(lines.at(-1)).toBe(`ready: ${url} luxi=${socket} mond=http://${address}:1815 confd=${address}:1814`)
    expect(fs.statSync(path.join(cluster.root, 'admin-password')).mode & 0o777).toBe(0o600)
  })

  test('names its console first, and who signs in there', async () => {
    const { url, root } = cluster
    const [, first] = /^the cluster runs.*\n(.*)$/m.exec(cluster.output()) ?? []
    expect(first).toBe(`  console      ${url}/ui/  (user admin, password: ${path.join(root, 'admin-password')})`)
    expect((await cluster.rapi('GET', '/ui/')).status).toBe(200)
  })

  test('is reached, from any shell and folder, by what it says is to be typed, whatever other clusters run', async () => {
    const other = await startCluster(['--hypervisor', 'fake', '--nodes', '1'])
    try {
      for (const [{ output, rapi }, nodes] of [[cluster, 3] as const, [other, 1] as const]) {
        const { uuid } = (await rapi('GET', '/2/info')).body as { uuid: string }
        const [, line = ''] = /try in another terminal:\n +(.*)/.exec(output()) ?? []
        const env = { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: '/nonexistent' }
        const shell = spawnSync('sh', ['-c', `${line}; gnt node list --no-headers -o name; gnt cluster info`], {
          ...{ env, cwd: '/', encoding: 'utf8' },
        })
        expect(shell.stderr).toBe('')
        expect(shell.stdout.match(/^node\d\.gantry\.local$/gm)).toHaveLength(nodes)
        expect(shell.stdout).toContain(uuid)
      }
    } finally {
      await other.remove()
    }
  })

  test('names the address that goes with the master', async () => {
    expect(new URL(cluster.url).hostname).toMatch(/\.254$/)
    const certificate = await shownBy(cluster.url)
    expect(certificate.checkIP(new URL(cluster.url).hostname)).toBeDefined()
    expect(certificate.checkIP(cluster.address)).toBeDefined()
  })

  test('has three nodes that answer', async () => {
    const { body } = await cluster.rapi('GET', '/2/nodes?bulk=1')
    const nodes = body as { name: string; mtotal: number; role: string }[]
    expect(nodes.map(({ name, role }) => [name, role])).toEqual([
      ['node1.gantry.local', 'M'],
      ['node2.gantry.local', 'C'],
      ['node3.gantry.local', 'C'],
    ])
    for (const { mtotal } of nodes) expect(mtotal).toBeGreaterThan(0)
  })

  test('refuses strangers', async () => {
    expect((await cluster.rapi('GET', '/2/info', undefined, 'admin:wrong')).status).toBe(401)
  })

  test('runs a job from the remote API through queue, process and locks', async () => {
    const result = await cluster.run({ OP_ID: 'OP_TEST_DELAY', duration: 0.01, on_master: true, on_nodes: [] })
    expect(result).toMatchObject({ status: 'success' })
  })

  test('has a queue that stands its self-test, and nodes that files and commands reach', async () => {
    const { code, stdout } = await cluster.gnt('debug', 'test-jobqueue')
    expect([code, stdout.trim().split('\n').at(-1)]).toEqual([0, 'Job queue test successful'])
    const file = path.join(cluster.root, 'node1.gantry.local', 'etc', 'motd')
    fs.writeFileSync(file, 'hello\n')
    expect(await cluster.gnt('cluster', 'copyfile', file)).toMatchObject({ code: 0, stderr: '' })
    const read = await cluster.gnt('cluster', 'command', '-M', 'cat "$GANETI_ROOTDIR/etc/motd"')
    expect(read.stdout.match(/^node[123]\.gantry\.local: hello$/gm)).toHaveLength(3)
    expect(await cluster.gnt('node', 'list-drbd', '--no-headers', 'node2')).toMatchObject({ code: 0, stdout: '' })
  })

  test('has files whose owners and modes are those of Ganeti', async () => {
    await cluster.run({ OP_ID: 'OP_TEST_DELAY', duration: 0, on_master: true, on_nodes: [] })
    expect((await cluster.gnt('job', 'autoarchive', 'all')).code).toBe(0)
    expect(misplaced(cluster.root)).toEqual([])
  })

  test('is there once for each root, and says so', () => {
    const second = start('--root', cluster.root)
    expect(second.status).toBe(1)
    expect(second.stderr).toMatch(/is running already/)
    expect(second.stderr.trim().split('\n')).toHaveLength(1)
  })

  test('is not built anew to say that it runs', () => {
    // Without npm nothing can be built.
    const args = [START, '--root', cluster.root]
    const second = spawnSync(process.execPath, args, { encoding: 'utf8', env: { PATH: '/nonexistent' } })
    expect([second.status, second.stdout]).toEqual([1, ''])
    expect(second.stderr).toMatch(/^npm start: the cluster in .* is running already/)
  })

  test('names the port that is taken, and leaves nothing', () => {
    const parent = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
    const root = path.join(parent, 'new')
    const second = start('--root', root, '--base-address', cluster.address.replace(/\.1$/, '.0'))
    expect(second.stderr).toMatch(/: Port \d+ of 127\.\S+ is taken .*--base-address/)
    expect(fs.readdirSync(parent)).toEqual([])
    fs.rmdirSync(parent)
  })

  test('brings a daemon back that was killed, and goes on', async () => {
    const pidOf = (role: string) =>
      Number(fs.readFileSync(path.join(cluster.root, `node1.gantry.local/var/run/ganeti/ganeti-${role}.pid`), 'utf8'))
    for (const role of ['wconfd', 'luxid', 'rapi', 'noded']) {
      process.kill(pidOf(role), 'SIGKILL')
      expect(await cluster.gnt('instance', 'list', '--no-headers')).toMatchObject({ code: 0, stdout: '' })
      const result = await retry(() =>
        cluster.run({ OP_ID: 'OP_TEST_DELAY', duration: 0.01, on_master: true, on_nodes: [] }),
      )
      expect(result.status).toBe('success')
    }
    expect((await retry(() => cluster.rapi('GET', '/2/info'))).status).toBe(200)
  })

  test('stops with all its processes, and starts where it was', async () => {
    const before = await cluster.rapi('GET', '/2/info')
    expect(await cluster.stop()).toBe(0)
    expect(processesOf(cluster.root)).toEqual([])
    expect(misplaced(cluster.root)).toEqual([])
    expect(fs.readdirSync(path.join(cluster.root, 'node1.gantry.local/var/lib/ganeti'))).not.toContain('config.journal')
    await cluster.restart()
    const after = await cluster.rapi('GET', '/2/info')
    expect((after.body as { uuid: string }).uuid).toBe((before.body as { uuid: string }).uuid)
  })
})

test('the files of a cluster have the same modes, whatever umask it is started with', async () => {
  const modesWith = async (umask: string) => {
    const enter = ['/bin/sh', '-c', `umask ${umask}; exec "$@"`, 'sh']
    const one = await startCluster(['--hypervisor', 'fake', '--nodes', '1'], { enter })
    try {
      const add = [
        'instance',
        'add',
        '-t',
        'sharedfile',
        '--disk',
        '0:size=1m',
        '-o',
        'gantry-tiny',
        '-B',
        'memory=16m',
      ]
      expect(await one.gnt(...add, 'vm1')).toMatchObject({ code: 0, stderr: '' })
      await one.stop()
      return modesBelow(one.root)
    } finally {
      await one.remove()
    }
  }
  const [usual = [], open, closed] = await Promise.all(['0022', '0002', '0077'].map(modesWith))
  expect(usual.length).toBeGreaterThan(50)
  expect(open).toEqual(usual)
  expect(closed).toEqual(usual)
})

/** Names of files with numbers and keys differ from cluster to cluster. */
const modesBelow = (root: string): string[] =>
  [
    ...new Set(
      fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => {
        const { mode } = fs.lstatSync(path.join(root, name))
        return `${name.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, 'N')} ${(mode & 0o7777).toString(8)}`
      }),
    ),
  ].sort()

test('a job that waits when the cluster stops is queued again when it starts', async () => {
  const fake = await startCluster(['--hypervisor', 'fake', '--nodes', '1'])
  try {
    const submit = (op: WireOpCode) => fake.master.submitJob([{ ...op, reason: [] }])
    const reaches = (job: number, status: string) =>
      retry(async () => expect(await fake.master.queryJobs([job], ['status'])).toEqual([[status]]))
    const delay = { duration: 4, on_master: false, on_nodes: [MASTER], no_locks: false }
    const holds = await submit({ OP_ID: 'OP_TEST_DELAY', ...delay })
    await reaches(holds, 'running')
    const waits = await submit({ OP_ID: 'OP_TEST_DELAY', ...delay, duration: 0.1 })
    await reaches(waits, 'waiting')
    await fake.stop()
    expect(processesOf(fake.root)).toEqual([])
    const stopped_s = Date.now() / 1000
    await fake.restart()
    await retry(async () => {
      const rows = await fake.master.queryJobs([holds, waits], ['status', 'start_ts'])
      const starts = rows.map((row) => [row?.[0], Number((row?.[1] as number[] | null)?.[0]) > stopped_s - 1])
      expect(starts).toEqual([
        ['success', false],
        ['success', true],
      ])
    })
  } finally {
    await fake.remove()
  }
})

test('a node leaves, and joins again, and the cluster stops and starts without and with it', async () => {
  const fake = await startCluster(['--hypervisor', 'fake'])
  const names = async () => (await fake.gnt('node', 'list', '--no-headers', '-o', 'name')).stdout.trim().split('\n')
  const node = (number: number) => `node${number}.gantry.local`
  try {
    expect(await fake.gnt('node', 'remove', node(2))).toMatchObject({ code: 0, stderr: '' })
    await fake.stop()
    await fake.restart()
    expect(await names()).toEqual([node(1), node(3)])
    for (const name of ['node2', node(4)])
      expect(await fake.gnt('node', 'add', name)).toMatchObject({ code: 0, stderr: '' })
    expect((await fake.gnt('node', 'add', 'other')).stderr).toMatch(/'other' cannot be a node of this embedded cluster/)
    await fake.stop()
    await fake.restart()
    expect(await names()).toEqual([1, 2, 3, 4].map(node))
    const verified = await fake.gnt('cluster', 'verify')
    expect(verified.stdout).not.toMatch(/ERROR|WARNING/)
  } finally {
    await fake.remove()
  }
})

test('starts without the parts whose ports another program has, says so in one line, and has them when it can', async () => {
  const address = `127.${randomInt(16, 250)}.${randomInt(0, 256)}.1`
  const taken = await Promise.all([80, PORT.mond, PORT.maintd].map((port) => occupy(port, address)))
  const base = address.replace(/1$/, '0')
  const fake = await startCluster(['--hypervisor', 'fake', '--nodes', '1', '--base-address', base])
  try {
    const lines = fake.output().match(/^node1.*$/gm) ?? []
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(
      /: mond cannot run, so .* are missing: .*Port 1815 of \S+ is taken by another process; stop/,
    )
    expect(lines[1]).toMatch(/: maintd cannot run, so .* are missing: .*Port 1816 of/)
    const add = ['instance', 'add', '-t', 'diskless', '-o', 'gantry-tiny', '-B', 'memory=16m', 'vm1']
    expect(await fake.gnt(...add)).toMatchObject({ code: 0, stderr: '' })
    taken.forEach((server) => server.close())
    await retry(async () => expect(fake.output()).toMatch(/: mond runs now/), 100)
  } finally {
    taken.forEach((server) => server.close())
    await fake.remove()
  }
})

/** An ordinary user cannot have ports below 1024. */
const occupy = (port: number, address: string) =>
  new Promise<net.Server>((resolve) => {
    const server = net.createServer().once('error', () => resolve(server))
    server.listen(port, address, () => resolve(server))
  })

test('a single node gets instances without being named', async () => {
  const fake = await startCluster(['--hypervisor', 'fake', '--nodes', '1'])
  try {
    const add = ['instance', 'add', '-t', 'diskless', '-o', 'gantry-tiny', '-B', 'memory=16m', 'vm1']
    expect(await fake.gnt(...add)).toMatchObject({ code: 0, stderr: '' })
  } finally {
    await fake.remove()
  }
})

test('help is there before anything is built, and names what holds', () => {
  const project = path.dirname(path.dirname(START))
  const bare = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
  for (const file of ['scripts/start.mjs', 'src/embedded/usage.ts'])
    fs.cpSync(path.join(project, file), path.join(bare, file))
  for (const word of ['--help', '-h']) {
    const args = [path.join(bare, 'scripts/start.mjs'), '--root', bare, word]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      ...{ encoding: 'utf8', env: { PATH: '/nonexistent' } },
    })
    expect([status, stdout, stderr]).toEqual([0, USAGE, ''])
  }
  expect(USAGE).toContain(`1 to ${EMBEDDED_NODES_MAX} `)
  fs.rmSync(bare, { recursive: true })
})

test('mistakes in the options get one line each', () => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
  for (const [args, text] of [
    [['--nodes', '0'], /--nodes needs a number from 1 to/],
    [['--base-address', '10.0.0.0'], /--base-address needs a loopback address/],
    [['--hypervisor', 'xen'], /--hypervisor is kvm or fake/],
    [['--state', '/nonexistent'], /there is no config.data/],
    [['--wrong'], /Unknown option '--wrong'/],
    [['--root', '/tmp/' + 'x'.repeat(90)], /too long/],
    [['--root', '/tmp/' + 'x'.repeat(200)], /too long/],
  ] as const) {
    const result = start('--root', root, ...args)
    expect(result.status).toBe(1)
    expect(result.stderr).toMatch(text)
    expect(result.stderr.trim().split('\n')).toHaveLength(1)
  }
  fs.rmSync(root, { recursive: true })
})

const MASTER = 'node1.gantry.local'

async function retry<T>(action: () => Promise<T>, tries = 50): Promise<T> {
  for (let left = tries; ; left--) {
    try {
      return await action()
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }
}

test('a cluster is destroyed when its last node is alone, and leaves no keys', async () => {
  const fake = await startCluster(['--hypervisor', 'fake', '--nodes', '1'])
  try {
    const unsure = await fake.gnt('cluster', 'destroy')
    expect(unsure).toMatchObject({ code: 1, stderr: expect.stringContaining('supply the --yes-do-it option') })
    const options = ['-t', 'diskless', '-o', 'gantry-tiny', '-n', 'node1', '--no-install', '--no-start', '--no-nics']
    expect(await fake.gnt('instance', 'add', ...options, 'vm1')).toMatchObject({ code: 0 })
    const full = await fake.gnt('cluster', 'destroy', '--yes-do-it')
    expect(full.stderr).toContain('There are still 1 instance(s) in this cluster.')
    expect(await fake.gnt('instance', 'remove', '-f', 'vm1')).toMatchObject({ code: 0 })
    expect(await fake.gnt('debug', 'wconfd', 'echo', 'still here')).toMatchObject({ stdout: 'Answer: still here\n' })
    expect(await fake.gnt('cluster', 'destroy', '--yes-do-it')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await fake.stop()).toBe(0)
    expect(processesOf(fake.root)).toEqual([])
    expect(fs.existsSync(path.join(fake.root, 'cluster.json'))).toBe(false)
    const left = fs.readdirSync(path.join(fake.root, 'node1.gantry.local/var/lib/ganeti'))
    expect(left.filter((name) => /pem$|^config\.|^ssconf_|key$|secret$/.test(name))).toEqual([])
  } finally {
    await fake.remove()
  }
})
