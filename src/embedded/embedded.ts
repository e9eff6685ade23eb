// The cluster that `npm start` brings up: virtual nodes on loopback addresses, each with its own process tree, kept in the
// foreground. It may use everything; nothing uses it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { Child, ChildFailure } from '../daemons/node/child'
import { systemClock as clock } from '../lib/clock'
import { errorCode } from '../lib/disk'
import type { FramedServer } from '../lib/json-socket'
import { GanetiError, OpExecError } from '../model/errors'
import { PORT } from '../model/constants/daemons'
import { EMBEDDED_PORTS_S } from '../model/limits'
import { LuxiClient } from '../rpc/luxi/client'
import { openNodeClient } from '../rpc/node/client'
import { openWconfd } from '../rpc/wconfd/client'
import { create, planSettings } from './create'
import { endJobs, resumeGuests, shutDownGuests } from './guests'
import {
  type Settings,
  checkRootLength,
  nodePaths,
  passwordFile,
  readSettings,
  recordedConfig,
  simSocket,
  simState,
  writeSettings,
} from './layout'
import { type PrepareNode, type VirtualNode, lockRoot, wantedNode, withoutLeft, writeNodeFiles } from './membership'
import { type EmbeddedOptions, USAGE, UsageError, readOptions } from './options'
import { type Pointer, writePointer } from './pointer'
import { checkPorts, makeRoot } from './preflight'

const say = (text: string): void => void process.stdout.write(`${text}\n`)

export async function runEmbedded(args: readonly string[], program: string): Promise<void> {
  let options: ReturnType<typeof readOptions> | undefined
  try {
    options = readOptions(args)
    if (options === 'help') return say(USAGE.trimEnd())
    await run(options, program)
  } catch (error) {
    const ours = [UsageError, GanetiError, ChildFailure].some((kind) => error instanceof kind)
    const known = ours || errorCode(error) !== undefined
    process.stderr.write(
      `npm start: ${known ? explain(error, typeof options === 'object' ? options.root : undefined) : error instanceof Error ? error.stack : String(error)}\n`,
    )
    process.exit(1)
  }
}

function explain(error: unknown, root?: string): string {
  const text = error instanceof Error ? error.message : String(error)
  if (errorCode(error) === 'ENOSPC')
    return `${text}: the disk ${root === undefined ? '' : `of ${root} `}is full; free some room, or name another --root`
  if (errorCode(error) === 'EACCES') return `${text}: name a --root that you may write`
  return text
}

async function run(options: EmbeddedOptions, program: string): Promise<void> {
  const started_ms = clock.monotonic_ms()
  checkRootLength(options.root, [])
  const isNew = makeRoot(options.root)
  const running: { cluster?: RunningCluster } = {}
  const lock = await lockRoot(options.root, () => running.cluster?.prepareNode)
  const stopping = new AbortController()
  const stopSignal = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => {
        stopping.abort()
        resolve()
      })
  })
  const settings = await prepare(options).catch(async (error: unknown) => {
    await lock.close()
    if (isNew) await removeEmpty(options.root)
    throw error
  })
  const cluster = new RunningCluster(options, settings, program)
  running.cluster = cluster
  const started = cluster.start(stopping.signal)
  try {
    await Promise.race([started, stopSignal])
  } catch (error) {
    await cluster.stop()
    await lock.close()
    throw error
  }
  if (stopping.signal.aborted) started.catch(() => undefined)
  else announce(options.root, settings, cluster.isFound, (clock.monotonic_ms() - started_ms) / 1000)
  await stopSignal
  await cluster.stop()
  await finish(lock)
}

/** What a refused start made; a root that it had begun to fill is kept for whoever looks into it. */
const removeEmpty = (root: string): Promise<void> => fs.promises.rmdir(root).catch(() => undefined)

async function finish(lock: FramedServer): Promise<void> {
  await lock.close()
  say('stopped; "npm start" goes on where this was')
  process.exit(0)
}

/** The settings of the cluster that is there, or of a new one, which is made. */
async function prepare(options: EmbeddedOptions): Promise<Settings> {
  const { root } = options
  if (options.reset) await removeCluster(root)
  const recorded = readSettings(root)
  if (recorded === undefined) {
    const settings = await planSettings(options, say)
    await checkPorts(settings)
    await create(options, settings, say)
    return settings
  }
  refuseChanges(options, recorded)
  const { settings: existing, left } = withoutLeft(root, recorded)
  if (left.length > 0) {
    say(`${left.join(', ')} left the cluster`)
    await writeSettings(root, existing)
  }
  say(`going on with the cluster in ${root} (hypervisor: ${existing.simulated ? 'simulated' : existing.hypervisor})`)
  await portsAgain(existing)
  return existing
}

/** Whose parent was killed needs a moment to notice it, and to end. */
async function portsAgain(settings: Settings): Promise<void> {
  const deadline_ms = clock.monotonic_ms() + EMBEDDED_PORTS_S * 1000
  for (let told = false; ; told = true) {
    try {
      return await checkPorts(settings)
    } catch (error) {
      if (clock.monotonic_ms() > deadline_ms) throw error
      if (!told) say('waiting for the daemons of a former start to end')
      await clock.sleep(200)
    }
  }
}

function refuseChanges({ root, nodes, baseAddress, hypervisor, state }: EmbeddedOptions, existing: Settings): void {
  const refuse = (option: string, now: unknown) => {
    throw new UsageError(
      `${option} is only for a new cluster, and the one in ${root} was made with ${String(now)}; add --reset to throw it away, ` +
        'or name another --root',
    )
  }
  if (state !== undefined) refuse('--state', existing.simulated ? 'a recorded state' : 'nodes of its own')
  if (nodes !== undefined && nodes !== existing.nodes.length) refuse('--nodes', existing.nodes.length)
  if (baseAddress !== undefined && baseAddress !== existing.baseAddress) refuse('--base-address', existing.baseAddress)
  if (hypervisor !== undefined && hypervisor !== existing.hypervisor) refuse('--hypervisor', existing.hypervisor)
}

/** Only what is ours: a root that was named by mistake keeps what else is in it. */
async function removeCluster(root: string): Promise<void> {
  const settings = readSettings(root)
  const nodes = settings?.nodes.map(({ name }) => name) ?? []
  const own = [...nodes, 'shared', 'cluster.json', 'admin-password', 'sim.json', 'sim.sock', 'recorded-config.data']
  if (settings !== undefined) say(`throwing away the cluster in ${root}`)
  await Promise.all(own.map((name) => fs.promises.rm(path.join(root, name), { recursive: true, force: true })))
}

class RunningCluster {
  private readonly nodes = new Map<string, Child>()
  private pointer: Pointer | undefined
  private readonly luxi: LuxiClient
  private masterStopped: (() => void) | undefined
  private ready = false

  constructor(
    private readonly options: EmbeddedOptions,
    private settings: Settings,
    private readonly program: string,
  ) {
    for (const { name, address } of settings.nodes) this.nodes.set(name, this.child(name, address))
    this.luxi = new LuxiClient({ path: this.masterPaths.socket('query') })
  }

  /** Whether `gnt` finds this cluster without being told where it is. */
  get isFound(): boolean {
    return this.pointer?.found === true
  }

  /** The master's daemons need the votes of the others, so it comes last. */
  async start(signal: AbortSignal): Promise<void> {
    const [master, ...others] = this.nodes.values()
    say('starting the node daemons')
    await Promise.all(others.map((node) => node.start()))
    if (signal.aborted || master === undefined) return
    say('starting the master daemons')
    await master.start()
    this.ready = true
    this.pointer = writePointer({
      socket: this.masterPaths.socket('query'),
      root: this.options.root,
      pid: process.pid,
    })
    if (!this.settings.simulated) await resumeGuests(this.luxi, say)
  }

  async stop(): Promise<void> {
    this.pointer?.remove()
    if (this.ready) {
      say('stopping')
      await endJobs(this.luxi, say).catch((error: unknown) => say(`jobs: ${explain(error)}`))
      if (!this.settings.simulated)
        await this.stopGuests().catch((error: unknown) => say(`instances: ${explain(error)}`))
    }
    const [master, ...others] = this.nodes.values()
    await master?.stop()
    await Promise.all(others.map((node) => node.stop()))
  }

  /** The master goes first, so that nobody starts what was just shut down. */
  private async stopGuests(): Promise<void> {
    const paths = this.masterPaths
    const wconfd = openWconfd({ path: paths.socket('wconfd'), clock })
    const config = await wconfd.readConfig()
    wconfd.close()
    const stopped = new Promise<void>((resolve) => (this.masterStopped = resolve))
    this.nodes.get(this.settings.nodes[0]?.name ?? '')?.send('stop-master')
    await stopped
    const nodes = openNodeClient({ paths, clock })
    await shutDownGuests(config, nodes, say)
    nodes.close()
  }

  private get masterPaths() {
    return nodePaths(this.options.root, this.settings.nodes[0]?.name ?? '')
  }

  private child(name: string, address: string): Child {
    const { root, openReads } = this.options
    const { simulated, clusterAddress } = this.settings
    const sim = [
      '--simulated',
      '--config',
      recordedConfig(root),
      '--state',
      simState(root),
      '--socket',
      simSocket(root),
    ]
    const bind = simulated ? ['--bind', address, '--bind', clusterAddress] : ['--bind', address]
    return new Child({
      ...{ name, program: this.program, clock },
      args: ['node', ...(simulated ? sim : []), ...bind, ...(openReads ? ['--no-require-authentication'] : [])],
      env: { GANETI_ROOTDIR: path.join(root, name), GANETI_HOSTNAME: name },
      onMessage: (message) => this.heard(name, message),
      onDeath: (how) => say(`${name} ended (${how}), starting it again`),
    })
  }

  private heard(name: string, message: unknown): void {
    if (typeof message !== 'object' || message === null) return
    if ('notice' in message) say(`${name}: ${String(message.notice)}`)
    if ('stopped' in message) this.masterStopped?.()
    if ('left' in message) void this.forget(name, String(message.left))
  }

  /** What is asked for before a node is added: its files, and a daemon that answers. */
  get prepareNode(): PrepareNode | undefined {
    return this.ready && !this.settings.simulated ? (name) => this.prepare(name) : undefined
  }

  private async prepare(given: string): Promise<VirtualNode> {
    const node = wantedNode(this.settings, given)
    if (this.nodes.has(node.name)) return node
    const child = this.child(node.name, node.address)
    this.nodes.set(node.name, child)
    try {
      await writeNodeFiles(this.options.root, this.settings, node)
      await child.start()
    } catch (error) {
      this.nodes.delete(node.name)
      throw new OpExecError(error instanceof Error ? error.message : String(error))
    }
    await this.remember([...this.settings.nodes, node])
    say(`${node.name} runs, to be added`)
    return node
  }

  /** It ends by itself, and has nothing left with which it could start again. */
  private async forget(name: string, why: string): Promise<void> {
    const child = this.nodes.get(name)
    this.nodes.delete(name)
    say(`${name}: ${why}; "gnt node add ${name}" takes it back`)
    await child?.stop()
    await this.remember(this.settings.nodes.filter((node) => node.name !== name))
  }

  private async remember(nodes: readonly VirtualNode[]): Promise<void> {
    this.settings = { ...this.settings, nodes: [...nodes] }
    await writeSettings(this.options.root, this.settings)
  }
}

function announce(root: string, settings: Settings, found: boolean, took_s: number): void {
  const url = `https://${settings.nodes[0]?.address}:${PORT.rapi}`
  const socket = nodePaths(root, settings.nodes[0]?.name ?? '').socket('master')
  const login = fs.existsSync(passwordFile(root))
    ? `user admin, password in ${passwordFile(root)}`
    : 'the users of the recorded cluster'
  say(`
the cluster runs (after ${took_s.toFixed(1)} s)
  remote API   ${url}/2/info      (${login})
  documents    ${url}/docs
  files, logs  ${root}

try in another terminal:${found ? '' : `\n  export GANETI_LUXI_SOCKET=${socket}     # another cluster runs as well`}
  npx gnt node list${
    settings.simulated
      ? ''
      : `
  npx gnt instance add -t sharedfile --disk 0:size=128m -o gantry-tiny -B memory=64m vm1
  npx gnt instance console vm1`
  }
  npx gnt instance list
  npx gnt cluster verify
Ctrl-C stops the cluster, "npm start" goes on with it.

ready: ${url} luxi=${socket}`)
}
