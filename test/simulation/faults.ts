// Causes faults in a simulated cluster, one after the other, as the seed chooses.
import type { Auditor } from './auditor'
import { DISK_STEPS } from '../support/disk-faults'
import { NODES, type SimCluster } from './sim-cluster'
import { loseAnswers } from './sim-sockets'

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
      () => this.lostAnswers(away_s),
      () => this.lostAnswers(away_s),
      () => this.shortDisk(master.name, away_s / 4, 0),
      () => this.shortDisk(some, away_s / 4, 0),
      () => this.shortDisk(master.name, away_s / 2, 10 ** simulator.between(2, 5)),
      () => this.shortDisk(some, away_s / 2, 10 ** simulator.between(2, 5)),
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
    loseAnswers(0)
    this.cluster.watcher.peace()
    for (const { disk } of this.cluster.machines.values()) {
      disk.room_bytes = Infinity
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

  /** Calls of nodes and of the daemons are carried out, and their answers do not arrive. */
  private lostAnswers(time_s: number): void {
    const { network } = this.cluster
    network.lostAnswers = 0.05
    loseAnswers(0.02)
    this.undo('answers get lost', time_s, () => {
      network.lostAnswers = 0
      loseAnswers(0)
    })
  }

  private shortDisk(node: string, time_s: number, room_bytes: number): void {
    const { disk } = this.cluster.machine(node)
    disk.room_bytes = room_bytes
    this.undo(
      `the disk of ${node} has ${Math.round(room_bytes)} bytes left`,
      time_s,
      () => (disk.room_bytes = Infinity),
    )
  }

  /** One file of many cannot be written: nothing arrives, or it arrives though an error says that it did not. */
  private failingFile(node: string, time_s: number): void {
    const { simulator } = this.cluster
    const { disk, paths } = this.cluster.machine(node)
    const jobs = disk.list(paths.queueDir).filter((name) => name.startsWith('job-'))
    const last = Math.max(0, ...jobs.map((name) => Number(name.slice('job-'.length))))
    const files = [
      ...[paths.configFile, paths.gantryFile, paths.journalFile, paths.queueJournal, `${paths.queueJournal}.old`],
      ...[`${paths.queueDir}/serial`, paths.eventsFile],
      ...jobs.slice(-2).map((name) => `${paths.queueDir}/${name}`),
      `${paths.queueDir}/job-${last + 1 + simulator.random.below(3)}`,
      ...['node_list', 'instance_list', 'cluster_tags'].map((key) => paths.ssconf(key)),
    ]
    const fault = {
      file: simulator.pick(files),
      step: simulator.pick(DISK_STEPS),
      times: Math.ceil(simulator.between(0, 12)),
      code: simulator.pick(['EIO', 'ENOSPC'] as const),
    }
    disk.faults.plan(fault)
    const what = `${fault.step} of ${fault.file} fails ${fault.times} times (${fault.code})`
    this.undo(what, time_s, () => disk.faults.clear())
  }

  private undo(what: string, time_s: number, end: () => void): void {
    const { simulator } = this.cluster
    simulator.note('FAULT', `${what} for ${time_s.toFixed(1)} s`)
    simulator.after(time_s * 1000, undefined, end)
  }
}
