// A simulated machine: its disk, its processes, and its node daemon, which keeps the copies that master candidates keep with the
// product's own code and answers for instances and disks as simulated nodes do.
import { simHandlers } from '../../src/daemons/sim/handlers'
import type { SimHandlers } from '../../src/daemons/sim/sim-handlers'
import type { Log } from '../../src/lib/log'
import { isObject } from '../../src/lib/shapes/shape'
import { type Paths, pathsOf } from '../../src/lib/paths'
import type { NodeContext } from '../../src/node/context'
import { configReplicaHandlers } from '../../src/node/handlers/config-replica'
import { queueCopy } from '../../src/node/queue-copy'
import { blockdevHandlers } from '../../src/node/handlers/blockdev'
import { fileHandlers } from '../../src/node/handlers/files'
import { mirrorHandlers } from '../../src/node/handlers/mirrors'
import { mirrorList } from '../../src/node/mirror/client'
import { Disks } from '../../src/node/storage/disks'
import type { CallName } from '../../src/rpc/node/calls'
import { decodeCall, encodeAnswer, messageOf } from '../../src/rpc/node/protocol'
import { ConfigReplica } from '../../src/replication/config-replica'
import type { InstanceDict } from '../../src/rpc/node/dicts'
import { SimDisk } from './sim-disk'
import type { SimStorage } from './sim-drivers'
import { forgetSockets } from './sim-sockets'
import type { SimProcess, Simulator } from './simulator'

const {
  jobqueue_update,
  jobqueue_rename,
  jobqueue_set_drain_flag,
  gantry_jobqueue_append,
  gantry_jobqueue_fold,
  gantry_jobqueue_write,
  write_ssconf_files,
} = fileHandlers
const { gantry_jobqueue_keep } = fileHandlers
const { set_watcher_pause, get_watcher_pause } = fileHandlers

/** The product's own handlers serve the calls about a machine's own files. */
const ownFiles = {
  ...{
    jobqueue_update,
    jobqueue_rename,
    jobqueue_set_drain_flag,
    gantry_jobqueue_append,
    gantry_jobqueue_fold,
    gantry_jobqueue_write,
    write_ssconf_files,
  },
  gantry_jobqueue_keep,
  ...{ set_watcher_pause, get_watcher_pause },
  ...configReplicaHandlers,
}

/** The product's own handlers serve the calls about disks, too, on the drivers of the simulation. */
const { drbd_helper, ...ofDisks } = { ...blockdevHandlers, ...mirrorHandlers }

/** The parts of a node's context that its handlers of files and disks use. */
type OwnContext = Pick<
  NodeContext,
  | 'processes'
  | 'mirrorProgram'
  | 'paths'
  | 'disk'
  | 'clock'
  | 'random'
  | 'log'
  | 'hostname'
  | 'configReplica'
  | 'queueJournal'
  | 'ssconf'
> &
  SimStorage & {
    readonly daemons: Pick<NodeContext['daemons'], 'settle' | 'yieldMaster'>
    readonly files: NodeContext['files']
  }

const done = async () => undefined
/** Simulated machines have the master's daemons where they began, and nobody looks at links and notes of disks. */
const bare = {
  daemons: { settle: done, yieldMaster: async () => false },
  files: {
    readdir: async () => [],
    mkdir: done,
    rm: done,
    writeFile: done,
    symlink: done,
    rename: done,
    readlink: done,
  },
}

export class SimMachine {
  readonly paths: Paths
  readonly disk: SimDisk
  up = true
  noded: { process: SimProcess; answer(call: CallName, body: string): Promise<string> } | undefined
  private readonly processes = new Set<SimProcess>()

  constructor(
    private readonly simulator: Simulator,
    private readonly storage: SimStorage,
    readonly name: string,
    private readonly logOf: (process: SimProcess) => Log,
  ) {
    this.paths = pathsOf(`/${name}`, name)
    this.disk = new SimDisk(simulator)
    storage.mirrors.addHost(this)
  }

  /** The fingerprint of its client certificate. */
  private get digest(): string {
    return `digest-${this.name.replace(/\D/g, '')}`
  }

  start(role: string): SimProcess {
    const process = this.simulator.process(`${role}@${this.name.split('.')[0] ?? ''}`, this.name)
    this.processes.add(process)
    process.onEnd(() => this.processes.delete(process))
    return process
  }

  /** All that runs here is gone, instances too. */
  crash(): void {
    this.up = false
    for (const process of this.processes) process.end('its machine lost power')
    this.noded = undefined
    forgetSockets(`${this.paths.root}/`)
    this.disk.crash()
    this.storage.world.node(this.name).instances.clear()
  }

  boot(): void {
    this.up = true
    this.startNoded()
  }

  startNoded(): void {
    const process = this.start('noded')
    const { simulator, paths, name: hostname } = this
    const log = this.logOf(process)
    const disk = this.disk.of(process)
    const value = (key: string) => this.disk.peek(paths.ssconf(key))?.trim()
    const ssconf = { value, lines: (key: string) => value(key)?.split('\n') ?? [] }
    const { mirrors } = this.storage
    const isMaster = () => value('master_node') === hostname
    const basics = { paths, disk, clock: process.clock, random: simulator.random, log }
    const configReplica = new ConfigReplica({ ...basics, isMaster })
    const queueJournal = queueCopy({ ...basics, hostname, ssconf })
    const context: OwnContext = {
      ...{ ...basics, ...bare, ...this.storage },
      ...{ hostname, configReplica, queueJournal, ssconf },
      files: Object.assign({}, mirrors.filesOf(process), bare.files),
      ...{ processes: mirrors.processesOf(hostname), mirrorProgram: ['mirrors'] },
    }
    process.run(() => void configReplica.start())
    const answer = (call: CallName, body: string) => process.run(() => this.answer(context, call, body))
    this.noded = { process, answer }
  }

  private async answer(context: OwnContext, name: CallName, body: string) {
    try {
      return encodeAnswer({ ok: true, payload: await this.handle(context, name, body) })
    } catch (error) {
      return encodeAnswer({ ok: false, text: messageOf(error) })
    }
  }

  private async handle(input: OwnContext, name: CallName, body: string): Promise<unknown> {
    const args: readonly unknown[] = decodeCall(name, body, this.paths)
    if (Object.hasOwn(ownFiles, name)) return callOf(ownFiles, name)(input, ...args)
    const [guest] = args.filter(isInstance)
    if (guest !== undefined) this.storage.mirrors.use(guest)
    if (Object.hasOwn(ofDisks, name)) return callOf(ofDisks, name)(input, ...args)
    if (guest !== undefined && (name === 'instance_start' || name === 'accept_instance'))
      for (const disk of guest.disks_info) await new Disks(input as never).opened(disk)
    const handlers: SimHandlers = simHandlers
    if (handlers[name] === undefined) throw new Error(`Simulated nodes have no '${name}'`)
    const sim = { world: this.storage.world, node: this.name, clock: input.clock }
    const answer: unknown = await callOf(simHandlers, name)(sim, ...args)
    // The simulated nodes of the product know the certificates of their first configuration only.
    if (name === 'node_crypto_tokens' && Array.isArray(answer))
      return answer.map(([type]: unknown[]) => [type, this.digest])
    return isObject(answer) && isObject(answer['filelist']) ? this.verified(input, answer) : answer
  }

  /** For verify: the files and minors that the machine really has. */
  private async verified(input: OwnContext, answer: Readonly<Record<string, unknown>>): Promise<unknown> {
    const files = isObject(answer['filelist']) ? Object.entries(answer['filelist']) : []
    const own = files.map(([file, print]) => {
      const [, key] = /\/ssconf_(\w+)$/.exec(file) ?? []
      return [file, key === undefined ? print : this.disk.peek(this.paths.ssconf(key))]
    })
    const minors = [...(await mirrorList(input)).keys()]
    return { ...answer, filelist: Object.fromEntries(own), 'drbd-list': minors, 'client-cert': [null, this.digest] }
  }
}

const isInstance = (arg: unknown): arg is InstanceDict => isObject(arg) && Array.isArray(arg['disks_info'])

const callOf = (handlers: object, name: CallName) =>
  handlers[name as keyof typeof handlers] as (context: unknown, ...args: readonly unknown[]) => unknown
