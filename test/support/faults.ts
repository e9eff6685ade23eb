// Tools of the fault tests: the processes of an embedded cluster by role, a wait until the cluster is whole again, and facts about its
// nodes without asking a daemon.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { systemClock } from '../../src/lib/clock'
import { systemRandom } from '../../src/lib/random'
import { ConfdClient } from '../../src/rpc/confd/client'
import { CONFD } from '../../src/rpc/confd/protocol'
import type { Wconfd } from '../../src/rpc/wconfd/calls'
import { openWconfd } from '../../src/rpc/wconfd/client'
import { PORT } from '../../src/model/constants/daemons'
import { ROLES } from '../../src/roles/table'
import type { EmbeddedCluster } from './embedded-cluster'

export const NODES = ['node1.gantry.local', 'node2.gantry.local', 'node3.gantry.local']
type RealRole = Exclude<(typeof ROLES)[number], { nodes: 'simulated' }>
const isReal = (role: (typeof ROLES)[number]): role is RealRole => !('nodes' in role) || role.nodes === 'real'
/** The daemons of nodes that are not simulated, and their parent. */
const DAEMONS = ROLES.filter(isReal)
const NAMES = [...DAEMONS.map(({ name }) => name), 'job'] as const
export type Role = (typeof NAMES)[number]

export interface ClusterProcess {
  pid: number
  role: Role | 'qemu' | 'other'
  /** Host name of its node. */
  node: string
}

const readText = (file: string): string => {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** Every process that was started below this root, except the top parent. */
export function processesOf(root: string): ClusterProcess[] {
  return fs.readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return []
    const command = readText(`/proc/${entry}/cmdline`)
    // An ended process whose parent has not noticed yet has no command line.
    if (command === '') return []
    const directory = rootDirectory(`/proc/${entry}/environ`) ?? guestDirectory(command)
    if (directory === undefined || path.dirname(directory) !== root) return []
    if (isBecomingAnother(entry, command)) return []
    return [{ pid: Number(entry), role: roleOf(command), node: path.basename(directory) }]
  })
}

/** A daemon that starts a program exists twice for a moment: its copy has the daemon's name until it becomes the program. */
function isBecomingAnother(pid: string, command: string): boolean {
  const parent = /^\d+ \(.*\) \S (\d+) /s.exec(readText(`/proc/${pid}/stat`))?.[1]
  return parent !== undefined && readText(`/proc/${parent}/cmdline`) === command
}

const rootDirectory = (environ: string): string | undefined =>
  /(?:^|\0)GANETI_ROOTDIR=([^\0]*)/.exec(readText(environ))?.[1]

/** A guest has no environment. Its files show where it belongs. */
const guestDirectory = (command: string): string | undefined =>
  /\0-pidfile\0([^\0]*)\/var\/run\/ganeti\/kvm-hypervisor\//.exec(command)?.[1]

function roleOf(command: string): ClusterProcess['role'] {
  if (guestDirectory(command) !== undefined) return 'qemu'
  const named = /^ganeti-(\w+)/.exec(command)?.[1] ?? (command.includes('/job.js\0') ? 'job' : undefined)
  return NAMES.find((name) => name === named) ?? 'other'
}

/** Resident memory in MiB. */
export const residentMib = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) / 1024

export const daemonPids = (root: string): Record<string, number> =>
  Object.fromEntries(
    processesOf(root)
      .filter(({ role }) => DAEMONS.some(({ name }) => name === role))
      .map(({ role, node, pid }) => [`${role} ${node}`, pid] as const)
      .sort(),
  )

/** Kills and waits until the process is gone. */
export async function killHard(pid: number): Promise<void> {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    return
  }
  await eventually(`process ${pid} is gone`, () => readText(`/proc/${pid}/cmdline`) === '' || undefined, 10)
}

export const pause = (seconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

/** Repeats until the answer is neither undefined nor false. An error counts as no answer. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | false | undefined> | T | false | undefined,
  limit_s = 60,
): Promise<T> {
  const end = performance.now() + limit_s * 1000
  let last: unknown
  for (;;) {
    try {
      const found = await look()
      if (found !== undefined && found !== false) return found
    } catch (error) {
      last = error
    }
    if (performance.now() > end)
      throw new Error(`not within ${limit_s} s: ${what}${last === undefined ? '' : ` (${String(last)})`}`)
    await pause(0.05)
  }
}

export const masterRun = (cluster: EmbeddedCluster): string => path.join(cluster.root, NODES[0] ?? '', 'var/run/ganeti')
export const dataDir = (cluster: EmbeddedCluster, node: string): string =>
  path.join(cluster.root, node, 'var/lib/ganeti')

/** A client of wconfd for one piece of work. */
export async function withWconfd<T>(cluster: EmbeddedCluster, use: (wconfd: Wconfd) => Promise<T>): Promise<T> {
  const wconfd = openWconfd({
    clock: systemClock,
    random: systemRandom,
    path: path.join(masterRun(cluster), 'socket/ganeti-wconfd'),
  })
  try {
    return await use(wconfd)
  } finally {
    wconfd.close()
  }
}

/** Waits until every daemon of the cluster answers. */
export async function wholeAgain(cluster: EmbeddedCluster): Promise<void> {
  await eventually('wconfd answers', () => withWconfd(cluster, (wconfd) => wconfd.echo('there')))
  await eventually('luxid answers', () => cluster.master.queryConfigValues(['cluster_name']))
  await eventually('rapi answers', async () =>
    (await cluster.rapi('GET', '/2/info')).status === 200 ? true : undefined,
  )
  for (const role of DAEMONS)
    for (const index of nodesOf(role))
      if ('port' in role && role.port.protocol === 'tcp')
        await eventually(`${role.name} of node ${index + 1} answers`, () =>
          reached(nodeAddress(cluster, index), role.port.number),
        )
  await eventually('every confd answers', async () => {
    const servers = [...NODES.keys()].map((index) => nodeAddress(cluster, index))
    return (await confdClient(cluster, servers).askAll(CONFD.ping, null)).length === NODES.length
  })
}

/** Where it always runs. */
const nodesOf = ({ place }: RealRole): number[] =>
  place === 'node' ? [...NODES.keys()] : place === 'master' ? [0] : []

export const confdClient = (
  cluster: EmbeddedCluster,
  servers: readonly string[],
  warnings: string[] = [],
): ConfdClient =>
  new ConfdClient({
    ...{ servers, port: PORT.confd, key: readText(path.join(dataDir(cluster, NODES[0] ?? ''), 'hmac.key')) },
    ...{ clock: systemClock, random: systemRandom, warn: (text) => void warnings.push(text) },
  })

export const nodeAddress = (cluster: EmbeddedCluster, index: number): string =>
  cluster.address.replace(/\.1$/, `.${index + 1}`)

function reached(host: string, port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = net.connect(port, host)
    const end = (answer: true | undefined) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => end(true)).once('error', () => end(undefined))
  })
}

/** Names of guests by node, as the fake hypervisor keeps them. */
export const fakeGuests = (cluster: EmbeddedCluster): [node: string, name: string][] =>
  NODES.flatMap((node) =>
    list(path.join(cluster.root, node, 'var/run/ganeti/fake-hypervisor'))
      .filter((name) => !name.startsWith('.'))
      .map((name): [string, string] => [node, name]),
  )

/** Disk files in the shared folder: `instance/file`. */
export const sharedDisks = (cluster: EmbeddedCluster): string[] =>
  list(path.join(cluster.root, 'shared')).flatMap((instance) =>
    list(path.join(cluster.root, 'shared', instance)).map((file) => `${instance}/${file}`),
  )

export function list(directory: string): string[] {
  try {
    return fs.readdirSync(directory).sort()
  } catch {
    return []
  }
}
