// The process trees of an embedded cluster's nodes, from start to end.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { Child } from '../daemons/supervisor/child'
import { systemClock as clock } from '../lib/clock'
import { systemFiles as files } from '../lib/files'
import { systemProcesses as processes } from '../lib/programs/processes'
import { systemRandom as random } from '../lib/random'
import { Mutex } from '../lib/work/mutex'
import { OpExecError } from '../model/errors'
import type { Role } from '../roles/role'
import { roleNamed, ROLES } from '../roles/table'
import { LuxiClient } from '../rpc/luxi/client'
import { openNodeClient } from '../rpc/node/client'
import { openWconfd } from '../rpc/wconfd/client'
import { stopMirrors } from '../node/mirror/client'
import { endJobs } from '../bootstrap/end-jobs'
import { resumeGuests, shutDownGuests } from './guests'
import {
  type Settings,
  apiOf,
  nodePaths,
  recordedConfig,
  simSocket,
  simState,
  settingsFile,
  writeSettings,
} from './layout'
import { type PrepareNode, type VirtualNode, wantedNode, writeNodeFiles } from './membership'
import type { EmbeddedOptions } from './options'
import { type Pointer, writePointer } from './pointer'
import { explain, printMessage } from './messages'

export class RunningCluster {
  private readonly nodes = new Map<string, Child>()
  private pointer: Pointer | undefined
  private luxi: LuxiClient
  /** Whether any node's daemons have reported that they run as the master's. */
  private hasMaster = false
  private masterStopped: (() => void) | undefined
  private ready = false
  private readonly turns = new Mutex()

  constructor(
    private readonly options: EmbeddedOptions,
    private settings: Settings,
    private readonly program: string,
  ) {
    for (const { name, address } of settings.nodes) this.nodes.set(name, this.child(name, address))
    this.luxi = new LuxiClient({ path: this.masterPaths.socket('query'), clock })
  }

  /** The master's daemons need the others' votes, so it starts last. */
  async start(signal: AbortSignal): Promise<void> {
    const [master, ...others] = this.nodes.values()
    printMessage('starting the node daemons')
    await Promise.all(others.map((node) => node.start()))
    if (signal.aborted || master === undefined) return
    printMessage('starting the master daemons')
    await master.start()
    if (!this.hasMaster)
      throw new OpExecError(`no node became the master; ${this.masterPaths.logFile('wconf-daemon')} says why`)
    await this.turns.idle()
    this.ready = true
    this.point()
    if (!this.settings.simulated) await resumeGuests(this.luxi, printMessage)
  }

  async stop(): Promise<void> {
    this.pointer?.remove()
    const wasReady = this.ready
    this.ready = false
    await this.turns.idle()
    if (wasReady) {
      printMessage('stopping')
      await endJobs(this.luxi, clock, printMessage).catch((error: unknown) => printMessage(`jobs: ${explain(error)}`))
      if (!this.settings.simulated)
        await this.stopGuests().catch((error: unknown) => printMessage(`instances: ${explain(error)}`))
    }
    const master = this.nodes.get(this.masterNode.name)
    await master?.stop()
    await Promise.all([...this.nodes.values()].filter((node) => node !== master).map((node) => node.stop()))
  }

  /** The master stops first, so that nobody restarts what was just shut down. */
  private async stopGuests(): Promise<void> {
    const paths = this.masterPaths
    const wconfd = openWconfd({ path: paths.socket('wconfd'), clock, random })
    const config = await wconfd.readConfig()
    wconfd.close()
    const stopped = new Promise<void>((resolve) => (this.masterStopped = resolve))
    this.nodes.get(this.masterNode.name)?.send('stop-master')
    await stopped
    const nodes = openNodeClient({ paths, clock, files })
    await shutDownGuests(config, nodes, printMessage)
    nodes.close()
    for (const { name } of this.settings.nodes)
      await stopMirrors({ paths: nodePaths(this.options.root, name), clock, hostname: name })
  }

  /** The master's socket. */
  get socket(): string {
    return this.masterPaths.socket('master')
  }

  private point(): void {
    const socket = this.masterPaths.socket('query')
    this.pointer = writePointer({ socket, root: this.options.root, pid: process.pid })
  }

  /** The node on which `gnt` finds the cluster. The master is the first in the list. */
  get masterNode(): VirtualNode {
    return this.settings.nodes[0] ?? { name: '', address: '' }
  }

  /** A failover has made another node the master. */
  private async follow(name: string): Promise<void> {
    const { nodes } = this.settings
    const master = nodes.find((node) => node.name === name)
    if (master === undefined || master === nodes[0]) return
    const remembered = this.remember([master, ...nodes.filter((node) => node !== master)])
    this.luxi.close()
    this.luxi = new LuxiClient({ path: this.masterPaths.socket('query'), clock })
    printMessage(`${name} is the master now; ${apiOf(this.settings)} leads there`)
    if (this.ready) {
      this.pointer?.remove()
      this.point()
    }
    await remembered
  }

  private get masterPaths() {
    return nodePaths(this.options.root, this.masterNode.name)
  }

  private child(name: string, address: string): Child {
    return new Child({
      ...{ name, program: this.program, clock, processes },
      args: ['node', ...this.nodeOptions(address)],
      frugal: roleNamed('node')?.frugal,
      env: { GANETI_ROOTDIR: path.join(this.options.root, name), GANETI_HOSTNAME: name },
      onMessage: (message) => this.heard(name, message),
      onDeath: (how) => printMessage(`${name} ended (${how}), starting it again`),
    })
  }

  private nodeOptions(address: string): string[] {
    const { root, openReads, accessLog } = this.options
    const { simulated, clusterAddress } = this.settings
    const rapi = [...(openReads ? ['--no-require-authentication'] : []), `--access-log=${accessLog}`]
    const input: Record<string, string[]> = simulated
      ? {
          sim: [`--config=${recordedConfig(root)}`, `--state=${simState(root)}`, `--socket=${simSocket(root)}`],
          ...listening(simulated, address),
          rapi: [...rapi, `--bind=${address}`, `--bind=${clusterAddress}`],
        }
      : { ...listening(simulated, address), rapi }
    const options = Object.entries(input).flatMap(([role, all]) => all.map((one) => `--give=${role}=${one}`))
    return simulated ? ['--simulated', ...options] : options
  }

  private heard(name: string, message: unknown): void {
    if (typeof message !== 'object' || message === null) return
    if ('notice' in message) printMessage(`${name}: ${String(message.notice)}`)
    if ('stopped' in message) this.masterStopped?.()
    if ('master' in message) {
      this.hasMaster = true
      this.turns.runExclusive(() => this.follow(name)).catch((error: unknown) => printMessage(explain(error)))
    }
    if ('left' in message)
      this.turns
        .runExclusive(() => this.forget(name, String(message.left)))
        .catch((error: unknown) => printMessage(explain(error)))
  }

  /** Prepares a node before it is added: makes its files, and starts a daemon that answers. */
  get prepareNode(): PrepareNode | undefined {
    return this.ready && !this.settings.simulated
      ? (name) => this.turns.runExclusive(() => this.prepare(name))
      : undefined
  }

  private async prepare(input: string): Promise<VirtualNode> {
    const node = wantedNode(this.settings, input)
    if (this.nodes.has(node.name)) return node
    const child = this.child(node.name, node.address)
    this.nodes.set(node.name, child)
    try {
      await writeNodeFiles(this.options.root, this.settings, node)
      await child.start()
      await this.remember([...this.settings.nodes, node])
    } catch (error) {
      this.nodes.delete(node.name)
      await child.stop()
      // The node did not join, so it must not keep the cluster's keys.
      await fs.promises.rm(nodePaths(this.options.root, node.name).dataDir, { recursive: true, force: true })
      throw new OpExecError(explain(error))
    }
    printMessage(`${node.name} runs, to be added`)
    return node
  }

  /** The node ends by itself. Its files are gone, so it cannot be started again. */
  private async forget(name: string, why: string): Promise<void> {
    const child = this.nodes.get(name)
    this.nodes.delete(name)
    if (this.nodes.size === 0) return this.end(name, child)
    printMessage(`${name}: ${why}; "gnt node add ${name}" takes it back`)
    await child?.stop()
    await this.remember(this.settings.nodes.filter((node) => node.name !== name))
  }

  /** The last node has left the cluster; the next start makes a new one. */
  private async end(name: string, node: Child | undefined): Promise<void> {
    printMessage(`${name}: the cluster was destroyed`)
    this.ready = false
    await node?.stop()
    await fs.promises.rm(settingsFile(this.options.root), { force: true })
    process.kill(process.pid, 'SIGTERM')
  }

  private async remember(nodes: readonly VirtualNode[]): Promise<void> {
    this.settings = { ...this.settings, nodes: [...nodes] }
    await writeSettings(this.options.root, this.settings)
  }
}

/**
 * Daemons that would listen on all addresses of the machine listen only on their virtual node's. The remote API has its
 * own.
 */
function listening(simulated: boolean, address: string): Record<string, string[]> {
  const others = simulated ? 'real' : 'simulated'
  const roles: readonly Role[] = ROLES.filter(({ place }) => place !== 'demand')
  const bound = roles.filter(({ nodes, options }) => nodes !== others && options.includes('bind'))
  return Object.fromEntries(bound.map(({ name }) => [name, [`--bind=${address}`]]))
}
