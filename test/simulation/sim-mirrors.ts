// The mirrors of simulated nodes: the product's own, on simulated volumes and lines. A process of each node has them, as on real nodes, and
// guests write to what it serves all the time. What was confirmed is noted.
import type { World } from '../../src/daemons/sim/world'
import { errorText } from '../../src/lib/system-failure'
import type { Files } from '../../src/lib/files'
import { silentLog } from '../../src/lib/log'
import type { Paths } from '../../src/lib/paths'
import type { Processes } from '../../src/lib/programs/processes'
import { mirrorCall, mirrorList, mirrorsSocket } from '../../src/node/mirror/client'
import { type MirrorStatus, serveMirrors } from '../../src/node/mirror/server'
import type { InstanceDict } from '../../src/rpc/node/dicts'
import { NbdClient } from '../support/nbd-client'
import { SimFiles } from './sim-files'
import { breakStreams, connectSocket, newStreams } from './sim-streams'
import type { SimProcess, Simulator } from './simulator'

const BEAT_MS = 300
/** When all is quiet, nothing of interest happens between two writes. */
const QUIET_BEAT_MS = 3000
/** Each write has a place of its own. */
const WRITE_BYTES = 8
const MIB = 1 << 20

export interface MirrorHost {
  readonly name: string
  readonly paths: Paths
  start(role: string): SimProcess
}

/** A disk of a guest where it runs, and is opened. */
interface Opened {
  readonly process: SimProcess
  readonly client: NbdClient
  busy: boolean
}

export class SimMirrors {
  private readonly files: SimFiles
  private readonly hosts = new Map<string, MirrorHost>()
  private readonly running = new Map<string, SimProcess>()
  /** As they were a moment ago, of nodes that somebody asked for. */
  private statuses = new Map<string, ReadonlyMap<number, MirrorStatus>>()
  /** Minors by node and disk. */
  private readonly minors = new Map<string, number>()
  /** The disks of each instance that was started or assembled. */
  private readonly guests = new Map<string, Set<string>>()
  private readonly opened = new Map<string, Opened>()
  /** Nodes with guests that wait for their disks. */
  private readonly waiting = new Set<string>()
  private readonly acknowledged = new Map<string, Set<number>>()
  private count = 0
  private beat_ms = BEAT_MS

  constructor(
    private readonly simulator: Simulator,
    private readonly world: World,
    reaches: (one: string, other: string) => boolean,
  ) {
    newStreams((one, other) => one === other || reaches(one, other))
    this.files = new SimFiles(simulator)
    this.beat()
  }

  /** How processes of a node see its volumes. */
  filesOf = (process: SimProcess): Files => this.files.of(process, `/${process.machine}`)

  addHost(host: MirrorHost): void {
    this.hosts.set(host.name, host)
  }

  /** Starts the node's process of mirrors, as noded does. */
  processesOf(node: string): Processes {
    const start: Processes['start'] = async () => {
      this.startProcess(node)
      return { pid: 0, feed: () => undefined }
    }
    return { start } as unknown as Processes
  }

  makeVolume = (node: string, place: string, size_mib: number): void =>
    this.files.make(`/${node}${place}`, size_mib * MIB)

  renameVolume = (node: string, from: string, to: string): void => this.files.rename(`/${node}${from}`, `/${node}${to}`)

  removeVolume(node: string, place: string): void {
    // Files have no content here, and other nodes share some of them.
    if (!this.files.has(`/${node}${place}`)) return
    if (this.files.isOpen(`/${node}${place}`)) throw new Error(`${place} is in use`)
    this.files.remove(`/${node}${place}`)
  }

  /** As lvremove does it. */
  discard(node: string, volume: string): void {
    this.removeVolume(node, `/dev/${volume}`)
    this.world.node(node).disks.delete(volume)
  }

  /** As lvrename does it. */
  moveVolume(node: string, from: string, to: string): void {
    const { disks } = this.world.node(node)
    const found = disks.get(from)
    if (found === undefined || disks.has(to)) throw new Error(`cannot rename ${from} to ${to}`)
    this.renameVolume(node, `/dev/${from}`, `/dev/${to}`)
    disks.delete(from)
    disks.set(to, { ...found, logical_id: to.split('/') })
  }

  /** As drbdsetup does it. */
  async down(node: string, minor: number): Promise<void> {
    const [host, process] = [this.hosts.get(node), this.running.get(node)]
    if (host === undefined || process?.alive !== true) throw new Error(`node ${node} has no mirrors`)
    const { paths } = host
    const places = { paths, clock: process.clock, hostname: node }
    await process.run(() => mirrorCall(places, 'down', { minor }, 'Cannot end it'))
  }

  /** The minors that the node has. */
  minorsOn = (node: string): number[] => [...(this.statuses.get(node)?.keys() ?? [])]

  /** A disk has begun, or is gone. */
  noteMinor(node: string, disk: string, minor: number, isThere: boolean): void {
    const { minors } = this.world.node(node)
    if (isThere) minors.add(minor)
    else minors.delete(minor)
    if (isThere) this.minors.set(`${node} ${disk}`, minor)
    else this.minors.delete(`${node} ${disk}`)
  }

  /** Writes of guests that they were told to be safe, and are not there. */
  lost(node: string, place: string, disk: string): number[] {
    const file = `/${node}${place}`
    const isThere = (write: number) =>
      this.files.has(file) &&
      Number(this.files.peek(file, write * WRITE_BYTES, WRITE_BYTES).readBigUInt64BE(0)) === write
    return [...this.promised(disk)].filter((write) => !isThere(write))
  }

  /** The instance gets empty disks. */
  forget(instance: string): void {
    for (const disk of this.guests.get(instance) ?? []) this.acknowledged.delete(disk)
  }

  promised = (disk: string): ReadonlySet<number> => this.acknowledged.get(disk) ?? new Set()

  stateOf(node: string, disk: string): string {
    const status = this.statuses.get(node)?.get(this.minors.get(`${node} ${disk}`) ?? -1)
    if (status === undefined) return 'not there'
    const { connection, disk: local, peerDisk, why } = status
    const state = `${connection} ${local}/${peerDisk}`
    return state === 'Connected UpToDate/UpToDate' ? 'whole' : why === undefined ? state : `${state}, ${why}`
  }

  /** The guest writes to these disks where it runs. */
  use({ name, disks_info }: InstanceDict): void {
    const known = this.guests.get(name) ?? new Set()
    this.guests.set(name, known)
    for (const { uuid } of disks_info) known.add(uuid)
  }

  /** Asks all nodes, for somebody who wants to know the states and minors of now. */
  async lookAtAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map((node) => this.look(node)))
  }

  /** Nobody disturbs the mirrors any more. */
  quiet(): void {
    this.beat_ms = QUIET_BEAT_MS
  }

  kill(node: string): void {
    this.running.get(node)?.end('killed')
  }

  private startProcess(node: string): void {
    const host = this.hosts.get(node)
    if (host === undefined || this.running.get(node)?.alive) return
    const process = host.start('mirrors')
    this.running.set(node, process)
    process.onEnd(() => {
      this.world.node(node).minors.clear()
      this.statuses.delete(node)
    })
    const { clock } = process
    const { random } = this.simulator
    const serving = process.run(() =>
      serveMirrors({
        ...{ files: this.filesOf(process), run: this.files.run, clock, random, log: silentLog },
        ...{
          socket: mirrorsSocket(host),
          folder: `${host.paths.runDir}/mirrors`,
          end: () => process.end('has no disks'),
        },
      }),
    )
    serving.catch((error: unknown) => process.end(errorText(error)))
  }

  private beat(): void {
    this.simulator.after(this.beat_ms, undefined, () => {
      breakStreams()
      for (const node of this.statuses.keys()) if (!this.waiting.has(node)) this.statuses.delete(node)
      for (const node of this.waiting) void this.look(node)
      this.waiting.clear()
      for (const [key, minor] of this.minors) this.guest(key, minor)
      this.beat()
    })
  }

  private async look(node: string): Promise<void> {
    const [host, process] = [this.hosts.get(node), this.running.get(node)]
    if (host === undefined || process?.alive !== true) return
    const asking = process.run(() => mirrorList({ paths: host.paths, clock: process.clock, hostname: node }))
    const found = await asking.catch(() => undefined)
    if (process.alive && found !== undefined) this.statuses.set(node, found)
  }

  /** Opens the disk where its guest runs, writes to it, or lets it go. */
  private guest(key: string, minor: number): void {
    const [node = '', disk = ''] = key.split(' ')
    const runs = [...this.world.node(node).instances.keys()].some((name) => this.guests.get(name)?.has(disk))
    const opened = this.opened.get(key)
    if (opened !== undefined && (!opened.process.alive || !runs)) {
      opened.client.close()
      opened.process.end('the guest is gone')
      this.opened.delete(key)
    } else if (opened !== undefined) this.write(disk, opened)
    else if (runs) this.open(key, node, minor)
  }

  private open(key: string, node: string, minor: number): void {
    const host = this.hosts.get(node)
    if (host === undefined) return
    this.waiting.add(node)
    if (this.statuses.get(node)?.get(minor)?.role !== 'Primary') return
    const process = host.start(`guest of ${minor}`)
    const opening = process.run(async () =>
      NbdClient.over(await connectSocket(`${host.paths.runDir}/mirrors/${minor}.sock`)),
    )
    opening.then(
      (client) => {
        if (this.opened.has(key)) process.end('another was quicker')
        else this.opened.set(key, { process, client, busy: false })
        this.simulator.note('mirrors', `a guest opens ${key}, ${this.stateOf(node, key.split(' ')[1] ?? '')}`)
      },
      () => process.end('cannot open its disk'),
    )
  }

  private write(disk: string, opened: Opened): void {
    if (opened.busy) return
    opened.busy = true
    const write = ++this.count
    const bytes = Buffer.alloc(WRITE_BYTES)
    bytes.writeBigUInt64BE(BigInt(write))
    const writing = opened.process.run(() => opened.client.write(write * WRITE_BYTES, bytes))
    writing.then(
      () => {
        opened.busy = false
        const promised = this.acknowledged.get(disk) ?? new Set()
        this.acknowledged.set(disk, promised.add(write))
      },
      (error: unknown) => {
        opened.busy = false
        if (errorText(error).includes('hung up')) opened.process.end('its disk is gone')
      },
    )
  }
}
