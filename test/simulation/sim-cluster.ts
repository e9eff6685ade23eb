// A whole cluster in one process: the product's own daemons on simulated machines. The master's daemons are started again when they
// die, as a supervisor would.
import { noMonds } from '../support/no-monds'
import { openLog } from './sim-log'
import { applyChange, change } from '../../src/config/changes'
import { initialConfig } from '../../src/config/init'
import { recordValues } from '../../src/config/records'
import { createConfig } from '../../src/config/store-files'
import { ssconfLines } from '../../src/config/ssconf'
import { EMPTY_GANTRY } from '../../src/config/upgrade'
import { startLuxid } from '../../src/daemons/luxid/luxid'
import { World } from '../../src/daemons/sim/world'
import { startWconfd } from '../../src/daemons/wconfd/server'
import type { Disk } from '../../src/lib/disk'
import type { ConfigData, Node } from '../../src/model/config'
import { hvDefaults } from '../../src/model/constants/hypervisors'
import { IPOLICY_DEFAULTS } from '../../src/model/constants/params'
import { groupUuid, nodeUuid } from '../../src/model/ids'
import { CHILD_STOP_S } from '../../src/model/limits/daemons'
import { openNodeClient } from '../../src/rpc/node/client'
import { simProcesses, type Witness } from './sim-jobs'
import { SimMachine } from './sim-machine'
import { SimMirrors } from './sim-mirrors'
import { SimWatcher } from './sim-watcher'
import { MAINTAINED, startMaintenance, type Verdicts } from './sim-maintenance'
import { SimNetwork } from './sim-network'
import { forgetSockets, loseAnswers } from './sim-sockets'
import type { SimProcess, Simulator } from './simulator'

export const NODES = ['node1.example.com', 'node2.example.com', 'node3.example.com'] as const
/** A machine that comes and goes. At first it is alone in its group. */
export const SPARE = 'node4.example.com'
export const FAR = 'far'
type Daemon = 'wconfd' | 'luxid' | 'maintd'
type Closable = { close(): Promise<void> }

export class SimCluster {
  readonly machines = new Map<string, SimMachine>()
  readonly network: SimNetwork
  readonly world: World
  readonly mirrors: SimMirrors
  readonly daemons = new Map<Daemon, SimProcess>()
  readonly jobs = new Map<number, SimProcess>()
  /** A daemon could not start; it is tried again. */
  readonly failures: string[] = []
  readonly watcher: SimWatcher
  /** What the nodes say of themselves. */
  readonly verdicts: Verdicts = new Map()
  private maintained = true
  private restarting = true
  private readonly closings = new WeakMap<SimProcess, () => Promise<void>>()

  private constructor(
    readonly simulator: Simulator,
    readonly firstConfig: ConfigData,
    private readonly witness: Witness,
  ) {
    this.world = new World(firstConfig)
    this.network = new SimNetwork(simulator, this.machines)
    this.mirrors = new SimMirrors(simulator, this.world, (one, other) => this.network.reaches(one, other))
    const { world, mirrors } = this
    for (const name of [...NODES, SPARE])
      this.machines.set(name, new SimMachine(simulator, { world, mirrors }, name, openLog))
    this.watcher = new SimWatcher(simulator, this.master)
  }

  /** A new cluster of three nodes, the first of which is the master, with its daemons. */
  static async create(simulator: Simulator, witness: Witness): Promise<SimCluster> {
    forgetSockets('/')
    loseAnswers(0)
    const cluster = new SimCluster(simulator, firstConfig(simulator), witness)
    await cluster.writeFiles()
    for (const machine of cluster.machines.values()) machine.startNoded()
    cluster.startMaster()
    return cluster
  }

  get master(): SimMachine {
    return this.machine(NODES[0])
  }

  machine(name: string): SimMachine {
    const machine = this.machines.get(name)
    if (machine === undefined) throw new Error(`no machine ${name}`)
    return machine
  }

  startMaster(): void {
    this.restarting = true
    this.startDaemon('wconfd')
    this.startDaemon('luxid')
    if (this.maintained) this.startDaemon('maintd')
  }

  /** For the last look, when nothing is to change any more. */
  endMaintenance(): void {
    this.maintained = false
    this.kill('maintd')
  }

  resumeMaintenance(): void {
    this.maintained = true
    this.startDaemon('maintd')
  }

  /** Power is lost on a machine, and comes back. */
  crashMachine(name: string, away_s: number): void {
    const machine = this.machine(name)
    if (!machine.up) return
    this.simulator.note(name, 'loses power')
    const isMaster = machine === this.master
    if (isMaster) this.restarting = false
    machine.crash()
    this.simulator.after(away_s * 1000, undefined, () => {
      this.simulator.note(name, 'boots')
      machine.boot()
      if (isMaster) this.startMaster()
    })
  }

  kill(daemon: Daemon): void {
    this.daemons.get(daemon)?.end('killed')
  }

  /** As a service manager does: the daemon may end what it is at. */
  stop(daemon: Daemon): void {
    const process = this.daemons.get(daemon)
    const close = process && this.closings.get(process)
    if (!process?.alive || close === undefined) return
    this.simulator.note(process.name, 'is told to stop')
    const failed = (error: unknown) => `did not stop cleanly: ${String(error)}`
    this.simulator.after(0, process, () => {
      void close()
        .then(() => 'stopped', failed)
        .then((how) => process.end(how))
    })
    this.simulator.after(CHILD_STOP_S * 1000, undefined, () => process.end('does not stop'))
  }

  killJob(): void {
    const running = [...this.jobs.values()]
    if (running.length > 0) this.simulator.pick(running).end('killed')
  }

  killNoded(name: string): void {
    const { noded } = this.machine(name)
    if (!noded?.process.alive) return
    noded.process.end('killed')
    this.simulator.after(this.simulator.between(100, 5000), undefined, () => {
      const machine = this.machine(name)
      if (machine.up && !machine.noded?.process.alive) machine.startNoded()
    })
  }

  pauseJob(time_s: number): void {
    const running = [...this.jobs.values()]
    if (running.length > 0) this.simulator.pick(running).stop(time_s)
  }

  private startDaemon(daemon: Daemon): void {
    const process = this.master.start(daemon)
    this.daemons.set(daemon, process)
    process.onEnd(() => this.startAgain(daemon))
    const started = process.run(() => this.starting(daemon, process))
    started
      .then(({ close }) => void this.closings.set(process, close))
      .catch((error: unknown) => {
        if (!process.alive) return
        this.failures.push(`${daemon}: ${String(error)}`)
        process.end(`cannot start: ${String(error)}`)
      })
  }

  private startAgain(daemon: Daemon): void {
    this.simulator.after(this.simulator.between(100, 3000), undefined, () => {
      const isWanted = this.restarting && (daemon !== 'maintd' || this.maintained)
      if (isWanted && this.daemons.get(daemon)?.alive === false) this.startDaemon(daemon)
    })
  }

  private starting(daemon: Daemon, process: SimProcess): Promise<Closable> {
    if (daemon === 'wconfd') return this.startWconfd(process)
    if (daemon === 'luxid') return this.startLuxid(process)
    return startMaintenance(this, process, this.basics(process).nodes)
  }

  private startWconfd(process: SimProcess): Promise<Closable> {
    return startWconfd(this.basics(process))
  }

  private startLuxid(process: SimProcess): Promise<Closable> {
    const basics = this.basics(process)
    const { simulator, network } = this
    const world = {
      ...{ simulator, network },
      logOf: openLog,
      witness: {
        began: (...what: Parameters<Witness['began']>) => {
          this.witness.began(...what)
          const [, , { OP_ID, instance_name }] = what
          if (OP_ID === 'OP_INSTANCE_RECREATE_DISKS') this.mirrors.forget(String(instance_name))
        },
        ended: (...what: Parameters<Witness['ended']>) => this.witness.ended(...what),
      },
    }
    return startLuxid({
      ...basics,
      jobs: { entry: '', processes: simProcesses(this.master, world, this.jobs) },
      callWatcher: (why) => simulator.after(100, undefined, () => this.watcher.start(why)),
      planJob: () => Promise.reject(new Error('nobody plans here')),
      monds: noMonds,
    })
  }

  private basics(process: SimProcess) {
    const { clock } = process
    const { paths } = this.master
    const nodes = openNodeClient({ paths, transport: this.network.of(process) })
    return {
      paths,
      clock,
      nodes,
      random: this.simulator.random,
      log: openLog(process),
      disk: this.master.disk.of(process),
    }
  }

  private async writeFiles(): Promise<void> {
    const { firstConfig: config, master } = this
    for (const { name } of recordValues(config.nodes)) {
      const { disk, paths } = this.machine(name)
      const all = Object.entries(ssconfLines(config))
      for (const [key, lines] of all) await disk.now.write(paths.ssconf(key), lines.join('\n') + '\n')
    }
    const disk: Disk = master.disk.now
    await disk.write(`${master.paths.queueDir}/serial`, '0\n')
    await disk.write(`${master.paths.queueDir}/version`, '1\n')
    await createConfig({ disk, paths: master.paths }, config, MAINTAINED)
  }
}

function firstConfig({ random, time_ms }: Simulator): ConfigData {
  const context = { now_s: time_ms / 1000, random }
  const smallest = {
    'memory-size': 1,
    'disk-size': 1,
    'disk-count': 0,
    'cpu-count': 1,
    'nic-count': 0,
    'spindle-use': 1,
  }
  let config = initialConfig(
    {
      clusterName: 'cluster.example.com',
      masterIp: '192.0.2.254',
      masterName: NODES[0],
      primaryIp: '192.0.2.1',
      masterCertDigest: 'digest-1',
      cluster: {
        enabled_hypervisors: ['fake'],
        enabled_disk_templates: ['sharedfile', 'file', 'diskless', 'plain', 'drbd'],
        volume_group_name: 'xenvg',
        drbd_usermode_helper: '/bin/true',
        hvparams: { fake: hvDefaults('fake') },
        modify_etc_hosts: false,
        modify_ssh_setup: false,
        // A group of one machine never has room for what runs on it.
        default_iallocator_params: { 'no-capacity-checks': '' },
        ipolicy: { ...IPOLICY_DEFAULTS, minmax: IPOLICY_DEFAULTS.minmax.map(({ max }) => ({ min: smallest, max })) },
      },
    },
    context,
  )
  const [template] = recordValues(config.nodes)
  if (template === undefined) throw new Error('no master node')
  const [group] = recordValues(config.nodegroups)
  if (group === undefined) throw new Error('no node group')
  const far = { ...group, uuid: groupUuid(random.uuid()), name: FAR }
  config = applyChange({ config, gantry: EMPTY_GANTRY }, change('addNodeGroup', far), context).documents.config
  ;[...NODES.slice(1), SPARE].forEach((name, index) => {
    const uuid = nodeUuid(random.uuid())
    const address = `192.0.2.${index + 2}`
    const node: Node = {
      ...template,
      uuid,
      name,
      primary_ip: address,
      secondary_ip: address,
      group: name === SPARE ? far.uuid : group.uuid,
    }
    for (const named of [change('addNode', node), change('addCandidateCert', uuid, `digest-${index + 2}`)])
      config = applyChange({ config, gantry: EMPTY_GANTRY }, named, context).documents.config
  })
  return config
}
