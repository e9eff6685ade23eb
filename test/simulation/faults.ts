// Causes faults in a simulated cluster, one after the other, as the seed chooses.
import type { Auditor } from './auditor'
import { DISK_STEPS } from '../support/disk-faults'
import { NODES, type SimCluster } from './sim-cluster'

const CANDIDATES = NODES.slice(1)

export class Faults {
  constructor(
    private readonly cluster: SimCluster,
    private readonly auditor: Auditor,
  ) {}

  async strike(): Promise<void> {
    const { cluster } = this
    const { simulator, master } = cluster
    const away_s = simulator.between(0.5, 20)
    const some = simulator.pick(CANDIDATES)
    const strikes: (() => void)[] = [
      () => cluster.kill('luxid'),
      () => cluster.kill('luxid'),
      () => cluster.kill('wconfd'),
      () => cluster.kill('wconfd'),
      () => cluster.kill('maintd'),
      () => cluster.kill('maintd'),
      () => cluster.stop('maintd'),
      () => this.pause('maintd'),
      () => cluster.stop('luxid'),
      () => cluster.stop('wconfd'),
      () => cluster.killJob(),
      () => cluster.watcher.kill(),
      () => cluster.killJob(),
      () => cluster.killNoded(simulator.pick(NODES)),
      () => cluster.mirrors.kill(simulator.pick(NODES)),
      () => cluster.crashMachine(some, away_s),
      () => cluster.crashMachine(master.name, away_s / 2),
      () => this.pause('wconfd'),
      () => this.pause('luxid'),
      () => this.pause('job'),
      () => this.pause(simulator.pick(NODES)),
      () => this.jumpClock(master.name),
      () => this.jumpClock(some),
      () => this.partition(master.name, some, away_s),
      // Each mirror has one side there.
      () => this.partition(NODES[1], simulator.pick([NODES[0], NODES[2]]), away_s),
      () => this.lossyNetwork(away_s),
      () => this.fullDisk(master.name, away_s / 4),
      () => this.fullDisk(some, away_s / 4),
      () => this.failingFile(master.name, away_s),
      () => this.failingFile(master.name, away_s),
      () => this.failingFile(some, away_s),
    ]
    simulator.pick(strikes)()
    await this.auditor.checkDisk('after a fault')
  }

  /** All is well from now on. */
  end(): void {
    this.cluster.network.heal()
    this.cluster.watcher.peace()
    for (const { disk } of this.cluster.machines.values()) {
      disk.full = false
      disk.faults.clear()
    }
  }

  /** Shorter or longer than what others wait for; mostly shorter, as little goes on meanwhile. */
  private pause(whom: 'wconfd' | 'luxid' | 'maintd' | 'job' | (typeof NODES)[number]): void {
    const { cluster } = this
    const time_s = cluster.simulator.between(0.4, 6.8) ** 2
    if (whom === 'job') cluster.pauseJob(time_s)
    else if (whom === 'wconfd' || whom === 'luxid' || whom === 'maintd') cluster.daemons.get(whom)?.stop(time_s)
    else cluster.machine(whom).noded?.process.stop(time_s)
  }

  /** The clock jumps forward or back, by moments or by days. */
  private jumpClock(node: string): void {
    const { simulator } = this.cluster
    simulator.jumpClock(node, (simulator.chance(0.5) ? 1 : -1) * 10 ** simulator.between(-1, 5.5))
  }

  private partition(one: string, other: string, time_s: number): void {
    const { network } = this.cluster
    network.separate(one, other)
    this.undo(`no network between ${one} and ${other}`, time_s, () => network.heal())
  }

  private lossyNetwork(time_s: number): void {
    const { network } = this.cluster
    network.loss = 0.1
    this.undo('the network loses messages', time_s, () => (network.loss = 0))
  }

  private fullDisk(node: string, time_s: number): void {
    const { disk } = this.cluster.machine(node)
    disk.full = true
    this.undo(`the disk of ${node} is full`, time_s, () => (disk.full = false))
  }

  /** One file of many cannot be written: nothing arrives, or it arrives though an error says that it did not. */
  private failingFile(node: string, time_s: number): void {
    const { simulator } = this.cluster
    const { disk, paths } = this.cluster.machine(node)
    const files = [
      paths.configFile,
      paths.gantryFile,
      paths.journalFile,
      paths.queueJournal,
      `${paths.queueJournal}.old`,
    ]
    const fault = {
      file: simulator.pick(files),
      step: simulator.pick(DISK_STEPS),
      times: Math.ceil(simulator.between(0, 12)),
    }
    disk.faults.plan(fault)
    this.undo(`${fault.step} of ${fault.file} fails ${fault.times} times`, time_s, () => disk.faults.clear())
  }

  private undo(what: string, time_s: number, end: () => void): void {
    const { simulator } = this.cluster
    simulator.note('FAULT', `${what} for ${time_s.toFixed(1)} s`)
    simulator.after(time_s * 1000, undefined, end)
  }
}
