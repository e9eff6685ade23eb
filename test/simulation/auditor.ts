// Looks at the cluster all the time, from outside and at its disks, and complains of what must not be.
import * as path from 'node:path'
import { encodeConfig, encodeGantry } from '../../src/config/encode'
import { ssconfLines } from '../../src/config/ssconf'
import { loadFiles } from '../../src/config/store-files'
import { verifyConfig } from '../../src/config/verify'
import { drbdId, logicalVolumes } from '../../src/config/lookup'
import { recordValues } from '../../src/config/records'
import { parseJob } from '../../src/jobs/job-file'
import { FileJournal } from '../../src/lib/file/journal'
import { silentLog } from '../../src/lib/log'
import { roundOf } from '../../src/model/maintenance'
import { allSnapshots, SNAPSHOTS_SECTION } from '../../src/model/snapshots'
import type { ConfigData, Documents } from '../../src/model/config'
import { wantedVolumes } from '../../src/operations/cluster/verify/only-copies'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { openWconfd } from '../../src/rpc/wconfd/client'
import { followConfig } from '../../src/rpc/wconfd/follow'
import type { Fact, Ledger } from './ledger'
import type { SimCluster } from './sim-cluster'
import type { SimMachine } from './sim-machine'
import type { SimProcess } from './simulator'

/** Files of the queue that differ from machine to machine. */
const OWN_FILES = ['version', 'archive', 'serial', 'journal', 'journal.old']

export class Auditor {
  /** Why the cluster has not come to rest; undefined when it has. */
  unrest: string | undefined = 'nobody has looked yet'
  /** As followers saw it last. */
  private config: ConfigData | undefined

  constructor(
    private readonly cluster: SimCluster,
    private readonly ledger: Ledger,
    private readonly process: SimProcess,
  ) {
    process.run(() => {
      void this.follow()
      void this.look()
    })
  }

  /** Checks the configuration that a machine would find on its disk if it started now. */
  async checkDisk(where: string): Promise<void> {
    const { documents } = await this.read(this.cluster.master)
    this.checkConfig(documents.config, where, false)
  }

  /** When all is quiet: nothing is held, and the copies are alike. */
  async checkAtRest(): Promise<void> {
    const { cluster } = this
    await this.checkDisk('at the end')
    const master = await this.read(cluster.master)
    for (const error of verifyConfig(master.documents.config)) this.ledger.complain(`at the end: ${error}`)
    // A node that maintenance has drained is no candidate, and has old copies.
    const candidates = this.candidates(master.documents.config)
    for (const machine of cluster.machines.values())
      if (candidates.includes(machine.name)) await this.compare(machine, master)
    this.checkInstances()
    this.checkWanted(master.documents.config)
    this.checkVolumes(master)
    this.checkMirrors(master.documents.config)
    this.checkMaintenance(master)
    this.checkSsconf(master.documents.config)
  }

  /** All nodes have the same small files, and those are the configuration's. */
  private checkSsconf(config: ConfigData): void {
    for (const { name } of recordValues(config.nodes))
      for (const [key, lines] of Object.entries(ssconfLines(config))) {
        const { disk, paths } = this.cluster.machine(name)
        const found = disk.peek(paths.ssconf(key))
        if (found?.trimEnd() !== lines.join('\n').trimEnd())
          this.ledger.complain(`ssconf_${key} on ${name} is ${found}, not ${lines.join(' ')}`)
      }
  }

  /** Whether a round of maintenance was written down, and nobody knows yet what became of its jobs. */
  async hasOpenRound(): Promise<boolean> {
    return roundOf((await this.read(this.cluster.master)).documents.gantry)?.resolved === false
  }

  /** The names of all instances with mirrored disks. */
  async mirrored(): Promise<string[]> {
    const { instances, disks } = (await this.read(this.cluster.master)).documents.config
    return recordValues(instances).flatMap(({ name, forthcoming, disks: uuids }) =>
      forthcoming !== true && uuids.some((uuid) => disks[uuid]?.dev_type === 'drbd') ? [name] : [],
    )
  }

  /** The watcher, or who did what verify said, has started whatever crashed with its machine. */
  private checkWanted({ instances, nodes }: ConfigData): void {
    for (const { name, admin_state, forthcoming, primary_node } of recordValues(instances)) {
      if (admin_state !== 'up' || forthcoming === true) continue
      const home = nodes[primary_node]?.name ?? ''
      if (!this.cluster.world.node(home).instances.has(name))
        this.ledger.complain(`instance ${name} should run on ${home}, and nobody has started it`)
    }
  }

  /** Each volume is that of a disk of this node, each minor, too, and no disk lacks a volume. */
  private checkVolumes({ documents: { config, gantry } }: Contents): void {
    const { world, mirrors } = this.cluster
    const parts = wantedVolumes(config)
    const snapshots = allSnapshots(gantry.sections[SNAPSHOTS_SECTION] ?? {})
    for (const { uuid, name } of recordValues(config.nodes)) {
      const own = new Set([
        ...parts.filter(({ nodes }) => nodes.has(uuid)).map(({ volume }) => volume),
        ...snapshots.filter(({ node }) => node === uuid).map(({ logical_id }) => logical_id.join('/')),
      ])
      const there = [...world.node(name).disks].flatMap(([key, { dev_type }]) => (dev_type === 'plain' ? [key] : []))
      for (const key of there) if (!own.has(key)) this.ledger.complain(`volume ${key} on ${name} is nobody's`)
      const minors = recordValues(config.disks).flatMap((disk) => {
        const id = drbdId(disk)
        return id === undefined
          ? []
          : [...(id.nodeA === uuid ? [id.minorA] : []), ...(id.nodeB === uuid ? [id.minorB] : [])]
      })
      for (const minor of mirrors.minorsOn(name))
        if (!minors.includes(minor)) this.ledger.complain(`DRBD's minor ${minor} on ${name} is nobody's`)
      for (const { instance, volume } of existing(config, uuid))
        if (!there.includes(volume)) this.ledger.complain(`${instance} lacks volume ${volume} on ${name}`)
    }
  }

  /** What a guest was told to be written is where it runs, and on its other node, too: somebody had time to mend all mirrors. */
  private checkMirrors({ instances, disks, nodes }: ConfigData): void {
    const { mirrors } = this.cluster
    for (const { name, primary_node, disks_active, forthcoming, disks: uuids } of recordValues(instances))
      for (const disk of uuids.flatMap((uuid) => disks[uuid] ?? [])) {
        const home = nodes[primary_node]?.name ?? ''
        if (drbdId(disk) === undefined) continue
        const [place = ''] = disk.children.map(({ logical_id }) => `/dev/${logical_id.join('/')}`)
        // A removal that did not end may have begun with the data.
        const lost = this.ledger.isThere({ kind: 'instance', name }) ? mirrors.lost(home, place, disk.uuid) : []
        if (lost.length > 0)
          this.ledger.complain(
            `${lost.length} of ${mirrors.promised(disk.uuid).size} acknowledged writes of ${name} are not on ${home}`,
          )
        // Disks of a forthcoming instance do not exist yet.
        const state = disks_active && forthcoming !== true ? mirrors.stateOf(home, disk.uuid) : 'whole'
        if (state !== 'whole') this.ledger.complain(`the mirror of ${name} on ${home} is ${state}`)
      }
  }

  /** Those beside the master. */
  private candidates(config: ConfigData): string[] {
    return recordValues(config.nodes).flatMap(({ name, master_candidate }) =>
      master_candidate && name !== this.cluster.master.name ? [name] : [],
    )
  }

  /** No job of a round was submitted twice, and no job of an event after its end. */
  private checkMaintenance({ queue, documents }: Contents): void {
    const observed = new Map<string, string>()
    for (const [name, text] of queue) {
      const [, key] = /\(round (\S+\/\d+)\)/.exec(text) ?? []
      if (key === undefined) continue
      const other = observed.get(key)
      if (other !== undefined) this.ledger.complain(`${other} and ${name} are the same job ${key} of maintenance`)
      observed.set(key, name)
    }
    if (roundOf(documents.gantry)?.resolved === false)
      this.ledger.complain('a round of maintenance was written down, and never taken up')
  }

  checkInstances(): void {
    const { cluster, ledger } = this
    const homes = new Map<string, string[]>()
    for (const { name } of cluster.machines.values())
      for (const instance of cluster.world.node(name).instances.keys())
        homes.set(instance, [...(homes.get(instance) ?? []), name])
    for (const [instance, nodes] of homes)
      if (nodes.length > 1) ledger.complain(`instance ${instance} runs on ${nodes.join(' and ')}`)
  }

  private async follow(): Promise<void> {
    const { cluster, process } = this
    const observed = (config: ConfigData) => {
      this.config = config
      this.checkConfig(config, 'as followers see it', true)
    }
    for (;;)
      try {
        await followConfig(cluster.master.paths.socket('wconfd'), { clock: process.clock }, observed)
        return
      } catch {
        await process.clock.sleep(1000)
      }
  }

  /** A configuration that somebody was `told` is durable. One that is only on a disk may still be lost. */
  private checkConfig(config: ConfigData, where: string, reported: boolean): void {
    const { ledger } = this
    ledger.sawSerial(config.serial_no, where, reported)
    // What an interrupted job leaves, or a user wants, is named with a command. When all is quiet, the caretaker uses it.
    for (const error of verifyConfig(config))
      if (!/'gnt-/.test(error)) ledger.complain(`the configuration ${where} does not verify: ${error}`)
    const memory = new Map(recordValues(config.instances).map(({ name, beparams }) => [name, beparams['maxmem']]))
    const isThere = (fact: Fact): boolean => {
      if (fact.kind === 'tag') return config.cluster.tags.includes(fact.name)
      if (fact.kind === 'group') return recordValues(config.nodegroups).some(({ name }) => name === fact.name)
      if (fact.kind === 'filter') return Object.hasOwn(config.filters, fact.name)
      if (fact.kind === 'network') return recordValues(config.networks).some(({ name }) => name === fact.name)
      return fact.kind === 'memory' ? memory.get(fact.name) === fact.size_mib : memory.has(fact.name)
    }
    ledger.check(where, isThere)
  }

  private async look(): Promise<void> {
    const { cluster, process } = this
    const { paths } = cluster.master
    const luxi = new LuxiClient({ path: paths.socket('query'), clock: process.clock, timeout_s: 20 })
    const wconfd = openWconfd({
      path: paths.socket('wconfd'),
      clock: process.clock,
      random: cluster.simulator.random,
      reconnect_s: 0,
    })
    for (;;) {
      await process.clock.sleep(2000)
      this.checkInstances()
      try {
        await this.lookAtJobs(luxi)
        const [held, waiting] = await wconfd.listLocksWaitingStatus()
        const replicas = await wconfd.gantryReplicas()
        const candidates = this.config === undefined ? 2 : this.candidates(this.config).length
        const maintenance = await luxi.gantry.maintenance({ user: 'root', token: null, permissions: ['*'] })
        const behind = replicas.filter(({ state }) => state !== 'in sync')
        this.unrest =
          this.ledger.open.length > 0
            ? `jobs ${this.ledger.open.join(', ')} have not ended`
            : maintenance.jobs.length > 0
              ? `a round of maintenance goes on: ${JSON.stringify(maintenance.jobs)}`
              : held.length + waiting.length > 0
                ? `locks are held without a job: ${JSON.stringify([held, waiting])}`
                : behind.length > 0 || replicas.length !== candidates
                  ? `out of sync: ${JSON.stringify(replicas)}`
                  : undefined
      } catch (error) {
        this.unrest = `the master does not answer: ${String(error)}`
      }
    }
  }

  private async lookAtJobs(luxi: LuxiClient): Promise<void> {
    const { ledger } = this
    const ids = [...ledger.jobs.keys()]
    const asked_ms = this.process.simulator.time_ms
    const rows = await luxi.queryJobs(ids, ['id', 'status', 'opresult'])
    ids.forEach((id, index) => {
      const row = rows[index]
      if (row === null || row === undefined) return ledger.lost(id, 'for queries')
      ledger.saw(id, String(row[1]), row[2], asked_ms)
    })
  }

  private async compare(machine: SimMachine, master: Contents): Promise<void> {
    const { ledger } = this
    const copy = await this.read(machine)
    if (encodeConfig(copy.documents.config) !== encodeConfig(master.documents.config))
      ledger.complain(`the configuration on ${machine.name} is not the master's`)
    if (encodeGantry(copy.documents.gantry) !== encodeGantry(master.documents.gantry))
      ledger.complain(`gantry.data on ${machine.name} is not the master's`)
    if (copy.serial < master.serial) ledger.complain(`${machine.name} would give out job id ${copy.serial + 1} again`)
    for (const name of new Set([...copy.queue.keys(), ...master.queue.keys()]))
      if (copy.queue.get(name) !== master.queue.get(name))
        ledger.complain(
          `queue file ${name} on ${machine.name} is ${outline(copy.queue.get(name))}, not ${outline(master.queue.get(name))}`,
        )
  }

  private async read({ disk, paths }: SimMachine): Promise<Contents> {
    const { clock, simulator } = this.process
    const copy = disk.copy()
    const { documents } = await loadFiles({
      ...{ paths, clock, log: silentLog, random: simulator.random, disk: copy.now },
    })
    const newer = await new FileJournal({ disk: copy.now, file: paths.queueJournal }).contents()
    const names = [...copy.list(paths.queueDir), ...[...newer.keys()].map((file) => path.basename(file))]
    const files = [...new Set(names)].filter((name) => !OWN_FILES.includes(name))
    const text = (name: string) => {
      const file = `${paths.queueDir}/${name}`
      return newer.get(file) ?? copy.peek(file) ?? ''
    }
    return { documents, queue: new Map(files.map((name) => [name, text(name)])), serial: Number(text('serial')) }
  }
}

/** The volumes of instances that a node should have. */
const existing = (config: ConfigData, node: string) =>
  recordValues(config.instances)
    .filter(({ forthcoming }) => forthcoming !== true)
    .flatMap(({ name, disks }) =>
      disks
        .flatMap((uuid) => config.disks[uuid] ?? [])
        .flatMap((disk) =>
          disk.nodes.some((uuid) => uuid === node)
            ? logicalVolumes(disk).map((id) => ({ instance: name, volume: id.join('/') }))
            : [],
        ),
    )

/** A short text about a file of the queue, for the reader of a complaint. */
function outline(text: string | undefined): string {
  if (text === undefined) return 'missing'
  if (!text.startsWith('{')) return text.trim()
  const { ops, end_timestamp } = parseJob(text)
  const displayed = ops.map(({ status, priority, log }) => `${status} at priority ${priority} with ${log.length} lines`)
  return `a job of ${text.length} bytes: ${displayed.join(', ')}${end_timestamp === null ? '' : ', ended'}`
}

interface Contents {
  readonly documents: Documents
  readonly queue: ReadonlyMap<string, string>
  /** The last job id. */
  readonly serial: number
}
