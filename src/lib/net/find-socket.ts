// Finds the master's socket: on a real node, or of the right embedded cluster.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { type Paths, environmentPaths, pathsOf } from '../paths'

export interface LuxiSocket {
  readonly path: string
  /** The folder with the roots of all virtual nodes, if the nodes are virtual. */
  readonly nodesRoot?: string
}

/**
 * The socket of this machine's master daemon: from the environment, else of the running embedded cluster, else of an
 * installed cluster.
 */
export function findLuxiSocket(env: NodeJS.ProcessEnv = process.env): LuxiSocket {
  const root = env['GANETI_ROOTDIR'] ?? ''
  const virtual = root === '' ? {} : { nodesRoot: path.dirname(root) }
  const explicit = env['GANETI_LUXI_SOCKET']
  if (explicit) {
    const running = embedded(env)
    return { path: explicit, ...(running?.path === explicit && running), ...virtual, ...ofVirtualNode(explicit) }
  }
  const forced = env['FORCE_LUXI_SOCKET']
  if (forced === 'master' || forced === 'query') return { path: environmentPaths().socket(forced), ...virtual }
  if (forced) return { path: forced, ...virtual }
  if (root !== '') return { path: environmentPaths().socket('query'), ...virtual }
  const running = embedded(env)
  if (running !== undefined) return running
  const installed = environmentPaths().socket('query')
  if (fs.existsSync(installed) || fs.existsSync(environmentPaths().ssconf('master_node'))) return { path: installed }
  const home = env['GANTRY_HOME']
  throw new Error(
    home
      ? `no cluster runs in ${home}, which GANTRY_HOME names; start it with npm start, or name the root of another one`
      : `no cluster found: ${installed} does not exist and no embedded cluster is known to run; ` +
          'start one with npm start, name the root of one in GANTRY_HOME, or its socket in GANETI_LUXI_SOCKET',
  )
}

/** The master's name, if it is another node and nobody named a socket: then there is no master here to talk to. */
export function masterElsewhere(socket: string): string | undefined {
  const paths = environmentPaths()
  if (socket !== paths.socket('query') || fs.existsSync(socket)) return undefined
  try {
    const master = fs.readFileSync(paths.ssconf('master_node'), 'utf8').trim()
    return master === paths.hostname || master.startsWith(`${paths.hostname}.`) ? undefined : master
  } catch {
    return undefined
  }
}

/** A virtual node has the directories of a real one below its own root. */
function ofVirtualNode(socket: string): { nodesRoot?: string } {
  const match = /^((?:\/.+)?)\/[^/]+\/var\/run\/ganeti\/socket\/[^/]+$/.exec(socket)
  return match === null ? {} : { nodesRoot: match[1] || '/' }
}

/**
 * Files in which a running embedded cluster publishes its address: `{"socket", "root", "pid"}`. It uses the first one
 * that it can write. GANTRY_HOME means the cluster in that folder, never another running one.
 */
export function embeddedPointers(env: NodeJS.ProcessEnv = process.env): string[] {
  if (env['GANTRY_HOME']) return [pointerIn(env['GANTRY_HOME'])]
  const runtime = env['XDG_RUNTIME_DIR']
  const home = env['HOME'] ?? os.homedir()
  return [
    '/run/gantry/embedded.json',
    ...(runtime ? [path.join(runtime, 'gantry', 'embedded.json')] : []),
    pointerIn(path.join(home, '.gantry')),
  ]
}

/** The file in which the cluster of this root publishes its address. */
export const pointerIn = (root: string): string => path.join(root, 'embedded.json')

/** True when GANTRY_HOME is set. Then only programs that name the root use a cluster that starts here. */
export const namesHome = (env: NodeJS.ProcessEnv = process.env): boolean => (env['GANTRY_HOME'] ?? '') !== ''

/** The socket of an embedded cluster's parent process. The parent prepares new nodes, and there is only one. */
export const nodeSetupSocket = (root: string): string => path.join(root, 'lock.sock')

/** The running embedded cluster that this environment selects. */
export function embedded(env: NodeJS.ProcessEnv = process.env): LuxiSocket | undefined {
  for (const file of embeddedPointers(env)) {
    const pointer = readPointer(file)
    if (pointer !== undefined && isMeant(pointer.root, env) && isAlive(pointer.pid) && isOurs(pointer.socket))
      return { path: pointer.socket, nodesRoot: pointer.root }
  }
  return undefined
}

/** A pointer in the user's folder may name another cluster. */
function isMeant(root: string, { GANTRY_HOME: home }: NodeJS.ProcessEnv): boolean {
  if (!home || path.resolve(home) === root) return true
  try {
    return fs.realpathSync(home) === fs.realpathSync(root)
  } catch {
    return false
  }
}

export function readPointer(file: string): { socket: string; root: string; pid: number } | undefined {
  try {
    const value: unknown = JSON.parse(fs.readFileSync(file, 'utf8'))
    const { socket, root, pid } = { socket: undefined, root: undefined, pid: undefined, ...Object(value) }
    if (typeof socket !== 'string' || typeof root !== 'string' || typeof pid !== 'number') return undefined
    return { socket, root, pid }
  } catch {
    // It is missing, or this user may not read it.
    return undefined
  }
}

/** False for another user's cluster, whose socket would refuse us. */
function isOurs(socket: string): boolean {
  try {
    fs.accessSync(socket, fs.constants.W_OK)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'EACCES')
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // The process lives, but belongs to another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Makes this process act as a virtual node of the environment's cluster, else of the running embedded one. */
export function becomeNode(name: string): void {
  const socket = process.env['GANETI_LUXI_SOCKET'] ?? ''
  const root = (socket === '' ? undefined : ofVirtualNode(socket).nodesRoot) ?? embedded()?.nodesRoot
  if (root === undefined) throw new Error('--node is for the nodes of an embedded cluster, and none is running here')
  const nodes = virtualNodes(root)
  const node = nodes.find((one) => one === name) ?? nodes.find((one) => one.startsWith(`${name}.`))
  if (node === undefined) throw new Error(`there is no node '${name}' in ${root}: its nodes are ${nodes.join(', ')}`)
  process.env['GANETI_ROOTDIR'] = path.join(root, node)
  process.env['GANETI_HOSTNAME'] = node
  delete process.env['GANETI_LUXI_SOCKET']
}

/** The paths of this process's node. With several virtual nodes: the master's, unless another one is named. */
export function thisNodePaths(): Paths {
  const paths = environmentPaths()
  const [, root, name] = VIRTUAL_SOCKET.exec(paths.root === '' ? foundSocket() : '') ?? []
  return root === undefined || name === undefined ? paths : pathsOf(root, name)
}

const VIRTUAL_SOCKET = /^(.*\/([^/]+))\/var\/run\/ganeti\/socket\/[^/]+$/

function foundSocket(): string {
  try {
    return findLuxiSocket().path
  } catch {
    // There is no cluster yet.
    return ''
  }
}

const virtualNodes = (root: string): string[] =>
  fs.readdirSync(root).filter((name) => fs.existsSync(path.join(root, name, 'var/lib/ganeti')))
