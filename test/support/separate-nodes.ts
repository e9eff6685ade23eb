// A cluster whose nodes are started one by one, as by the init systems of separate machines. Nothing restarts what a test kills.
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock as clock } from '../../src/lib/clock'
import { systemDisk as disk } from '../../src/lib/disk'
import { type Paths, pathsOf } from '../../src/lib/paths'
import { systemRandom as random } from '../../src/lib/random'
import { bitsOf, familyOf } from '../../src/model/ip'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { type NewNode, createCluster } from '../../src/bootstrap/cluster-files'

const PROGRAM = path.join(__dirname, '../../bin/gantryd.js')
const GNT = path.join(__dirname, '../../bin/gnt.js')

export interface SeparateNodes {
  /** node1, node2, ... */
  paths(number: number): Paths
  /** Resolves when its daemons can be used. */
  start(number: number): Promise<void>
  /** Sends the signal to all processes of the node at once, also to those that its daemons have started. */
  signal(number: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void
  luxi(number: number): LuxiClient
  gnt(number: number, ...words: string[]): Promise<{ code: number | null; stdout: string; stderr: string }>
  remove(): Promise<void>
}

export interface SeparateNodesOptions {
  /** The addresses of this machine, for a cluster with IPv6. Without them the nodes use loopback addresses. */
  network?: { cluster: string; primary: readonly string[]; secondary: readonly string[] }
  /** Words in front of each program's command, to run the nodes in their own namespace. */
  enter?: readonly string[]
}

export async function separateNodes(
  count: number,
  { network, enter = [] }: SeparateNodesOptions = {},
): Promise<SeparateNodes> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-'))
  const base = `127.${randomInt(16, 250)}.${randomInt(0, 256)}`
  const nodes: NewNode[] = Array.from({ length: count }, (_, index) => {
    const name = `node${index + 1}.example.com`
    const address = network?.primary[index] ?? `${base}.${index + 1}`
    return { name, address, secondaryAddress: network?.secondary[index], paths: pathsOf(path.join(root, name), name) }
  })
  const [master, ...others] = nodes
  if (master === undefined) throw new Error('a cluster needs a node')
  await createCluster(
    {
      ...{ name: 'cluster.example.com', address: network?.cluster ?? `${base}.254`, nodes: [master, ...others] },
      users: '',
      cluster: {
        ...{ enabled_hypervisors: ['fake'], enabled_disk_templates: ['diskless'], master_netdev: 'lo' },
        ...(network && { primary_ip_family: familyOf(6), master_netmask: bitsOf(6) }),
      },
    },
    { disk, clock, random },
  )
  const running = new Map<number, ChildProcess>()
  const clients: LuxiClient[] = []
  const node = (number: number) => nodes[number - 1] ?? master
  const environment = (number: number) => {
    const { paths } = node(number)
    return { ...process.env, GANETI_ROOTDIR: paths.root, GANETI_HOSTNAME: paths.hostname, GANTRY_HOME: root }
  }
  const signal = (number: number, name: NodeJS.Signals) => {
    // Stopped processes do not see each other die, so they cannot react.
    if (name === 'SIGKILL') signal(number, 'SIGSTOP')
    // The next round finds processes that were started meanwhile.
    const observed = new Set<number>()
    const found = () => processesOf(node(number).paths.root).filter((pid) => !observed.has(pid))
    for (let pids = found(); pids.length > 0; pids = found())
      for (const pid of pids) {
        tryKill(pid, name)
        observed.add(pid)
      }
  }
  return {
    paths: (number) => node(number).paths,
    signal,
    start(number) {
      const [program, ...before] = [...enter, process.execPath]
      const child = spawn(program, [...before, PROGRAM, 'node'], {
        ...{ env: environment(number), stdio: ['ignore', 'ignore', 'ignore', 'ipc'] as const },
      })
      running.set(number, child)
      return new Promise((resolve, reject) => {
        child.on('message', (message) => void (typeof message === 'object' && 'ready' in message && resolve()))
        child.once('exit', (code, how) => reject(new Error(`node${number} ended with ${how ?? code}`)))
      })
    },
    luxi(number) {
      const client = new LuxiClient({ clock, path: node(number).paths.socket('query') })
      clients.push(client)
      return client
    },
    gnt: (number, ...words) => run([...enter, process.execPath, GNT, ...words], environment(number)),
    async remove() {
      for (const client of clients) client.close()
      for (const number of nodes.keys()) signal(number + 1, 'SIGKILL')
      const alive = [...running.values()].filter((child) => child.exitCode === null && child.signalCode === null)
      await Promise.all(alive.map(ended))
      fs.rmSync(root, { recursive: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}

const ended = (child: ChildProcess) => new Promise((resolve) => child.once('exit', resolve))

/** The processes whose environment names the root of the node. */
function processesOf(root: string): number[] {
  return fs.readdirSync('/proc').flatMap((pid) => {
    try {
      const variables = /^\d+$/.test(pid) ? fs.readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0') : []
      return variables.includes(`GANETI_ROOTDIR=${root}`) ? [Number(pid)] : []
    } catch {
      // The process has just ended.
      return []
    }
  })
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process has just ended.
  }
}

function run([program = '', ...words]: readonly string[], env: NodeJS.ProcessEnv) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const result = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (result.stdout += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (result.stderr += chunk))
    child.once('close', (code) => resolve({ code, ...result }))
  })
}
