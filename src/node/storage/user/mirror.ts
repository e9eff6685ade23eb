// Mirrored disks in user space, for trials on virtual nodes without DRBD. A process of the node keeps the two copies equal (`src/node/mirror/`). Ids, states
// and operations are those of DRBD, so the code above this driver need not know the difference.
import * as path from 'node:path'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { HELD_DEVICE_S, MET_S, REACHED_S } from '../../../model/limits/storage'
import type { DiskDict } from '../../../rpc/node/dicts'
import { NodeFailure, fail } from '../../failure'
import { beginMirror, mirrorAddress, mirrorCall, mirrorList, mirrorsSocket, withLent } from '../../mirror/client'
import { NOT_ALL_DATA, NO_NOTES, writeFreshNotes } from '../../mirror/notes'
import type { MirrorStatus } from '../../mirror/server'
import { type End, endOf } from '../drbd/commands'
import { type Configured, requireEnd, stranger } from '../drbd/devices'
import { isSyncing } from '../drbd/kernel'
import { type Pair, requirePair } from '../drbd/local'
import { nameOf } from '../name'
import type {
  Child,
  Children,
  Connection,
  Device,
  Dimensions,
  DiskId,
  Driver,
  Health,
  Lender,
  Mirror,
  Sharing,
  StorageContext,
} from '../storage'
import { retryUntil } from '../retry-until'

const MIB = 1 << 20
const SECRET_AT = 5

class UserMirror implements Driver {
  readonly hasDisks = true
  readonly onSecondary = 'assembled'
  readonly worksWithoutChildren = true

  constructor(private readonly context: StorageContext) {}

  async create(disk: DiskDict, _size: number, children: Children, { exclusive = false }: Sharing): Promise<DiskId> {
    const { hostname, files } = this.context
    if (exclusive) fail(`Mirrored disks cannot be on node ${hostname}, where storage is exclusive`)
    const { minor } = requireEnd(disk, hostname)
    const { meta } = requirePair(disk, children, hostname)
    // The master gives a number to one disk only, so what has it now was left by an operation that did not end. Nothing uses it.
    if ((await mirrorList(this.context)).has(minor))
      await this.call(disk, 'down', {}, `Disk ${nameOf(disk)} cannot get minor ${minor}, which exists already`)
    await writeFreshNotes(files, meta.path)
    return (disk.logical_id ?? []).map((part, at) => (at === SECRET_AT ? null : part))
  }

  async find(disk: DiskDict, children: Children): Promise<Device | undefined> {
    const end = endOf(disk)
    const status = end && (await mirrorList(this.context)).get(end.minor)
    if (end === undefined || status === undefined) return undefined
    const why = stranger(configuredOf(end, status), end, children)
    if (why === undefined) return deviceOf(status)
    this.context.log.warn(
      { disk: nameOf(disk), minor: end.minor, why },
      'a minor does not belong to the disk that should have it',
    )
    return undefined
  }

  async health(disk: DiskDict): Promise<Health> {
    const { connection, disk: local, ...status } = await this.status(disk)
    const { sync_percent, estimated_time } = status
    const ldisk_status =
      local === 'Diskless'
        ? LOCAL_DISK_STATUS.faulty
        : local === 'UpToDate'
          ? LOCAL_DISK_STATUS.ok
          : isSyncing(connection)
            ? LOCAL_DISK_STATUS.syncing
            : LOCAL_DISK_STATUS.unknown
    return {
      ...(sync_percent !== undefined && { sync_percent }),
      ...(estimated_time !== undefined && { estimated_time }),
      ...{ is_degraded: connection !== 'Connected' || local !== 'UpToDate', ldisk_status },
    }
  }

  async assemble(disk: DiskDict, children: Children): Promise<Device> {
    const end = requireEnd(disk, this.context.hostname)
    const { minor } = end
    const found = (await mirrorList(this.context)).get(minor)
    const what = `Cannot begin disk ${nameOf(disk)}`
    if (found === undefined) {
      await beginMirror(this.context, minor, what)
      try {
        await this.mend(disk, end, children, undefined)
      } catch (error) {
        await this.call(disk, 'down', {}, what).catch(() => undefined)
        throw error
      }
    } else {
      const why = stranger(configuredOf(end, found), end, children)
      if (why !== undefined)
        fail(`Minor ${minor} on node ${this.context.hostname} ${why}, so disk ${nameOf(disk)} cannot have it`)
      await this.mend(disk, end, children, found)
    }
    return deviceOf(await this.status(disk))
  }

  /** A guest that was just ended may hold the disk for a moment. */
  shutdown = (disk: DiskDict): Promise<void> =>
    this.again(disk, 'down', {}, `Cannot shut down disk ${nameOf(disk)}`, { while: 'in use', limit_s: HELD_DEVICE_S })
  close = (disk: DiskDict): Promise<void> =>
    this.again(disk, 'secondary', {}, `Cannot give up writing to disk ${nameOf(disk)}`, {
      ...{ while: 'in use', limit_s: HELD_DEVICE_S },
    })
  /** The data is on the children, so nothing is deleted here. */
  remove = (disk: DiskDict): Promise<void> => this.shutdown(disk)

  async open(disk: DiskDict, _device: Device, { fresh = false }: { readonly fresh?: boolean }): Promise<void> {
    // A fresh disk has no data on any node, so this node's copy is declared complete. A disk without local data needs the other node, to
    // which it may not be connected yet.
    if (!fresh) await this.meet(disk)
    await this.again(disk, 'primary', { force: fresh }, `Cannot make disk ${nameOf(disk)} writable`, {
      ...{ while: NOT_ALL_DATA, limit_s: REACHED_S },
    })
  }

  /** The other node may have newer data, which a node cannot take any more once it writes. */
  private async meet(disk: DiskDict): Promise<void> {
    const look = () => this.status(disk)
    await retryUntil(
      this.context.clock,
      MET_S,
      look,
      ({ connection, role }) => role === 'Primary' || !connection.startsWith('WF'),
    )
  }

  async grow(
    disk: DiskDict,
    _device: Device,
    amount_mib: number,
    { dryRun }: { readonly dryRun: boolean },
  ): Promise<void> {
    if (amount_mib < 0) fail(`Cannot shrink disk ${nameOf(disk)} (by ${-amount_mib} MiB)`)
    const wanted_bytes = (disk.size + amount_mib) * MIB
    const { size_bytes = 0 } = await this.status(disk)
    if (size_bytes > wanted_bytes)
      fail(`Disk ${nameOf(disk)} has ${size_bytes / MIB} MiB already: gnt-cluster repair-disk-sizes records its size`)
    if (!dryRun && size_bytes < wanted_bytes)
      await this.call(disk, 'resize', { size_bytes: wanted_bytes }, `Cannot grow disk ${nameOf(disk)}`)
  }

  rename = async (disk: DiskDict): Promise<void> => fail(`Disk ${nameOf(disk)} has no name that could be changed`)
  setInfo = (): Promise<void> => Promise.resolve()
  snapshot = async (disk: DiskDict): Promise<string> => fail(`Disk ${nameOf(disk)} has no volume of its own`)

  async dimensions(disk: DiskDict): Promise<Dimensions> {
    const { size_bytes } = await this.status(disk)
    if (size_bytes === undefined) return fail(`Disk ${nameOf(disk)} has no data on node ${this.context.hostname}`)
    return { size_bytes, spindles: null }
  }

  /** Gives programs a file. What they write goes to this node's copy and to the other node before the write is confirmed. */
  async lend<T>(disk: DiskDict, _device: Device, work: (file: string) => Promise<T>): Promise<T> {
    const { minor } = requireEnd(disk, this.context.hostname)
    return withLent(this.context.clock, { socket: mirrorsSocket(this.context), minor, how: 'to write' }, work)
  }

  async lender(disk: DiskDict): Promise<Lender> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const { data } = await this.status(disk)
    if (data === undefined) return fail(`Disk ${nameOf(disk)} has no data on node ${this.context.hostname}`)
    return { socket: mirrorsSocket(this.context), minor, file: data }
  }

  readonly mirror: Mirror = {
    connection: (disk) => this.connection(disk),
    connect: (disk, _device, dual) => this.connect(disk, requireEnd(disk, this.context.hostname), dual),
    disconnect: async (disk) =>
      void (await this.call(disk, 'disconnect', {}, `Cannot disconnect disk ${nameOf(disk)}`)),
    attach: async (disk, _device, children) => {
      const pair = requirePair(disk, children, this.context.hostname)
      const { data } = await this.status(disk)
      // Fresh notes would overwrite those that are in use.
      if (data !== undefined)
        fail(`Disk ${nameOf(disk)} on node ${this.context.hostname} has its data on ${data} already`)
      await writeFreshNotes(this.context.files, pair.meta.path)
      await this.attachPair(disk, pair)
    },
    detach: async (disk, _device, children) => {
      const { data, meta } = await this.status(disk)
      if (data === undefined) return
      const input = children.map(({ place }) => place)
      if (input.length !== 2 || input[0] !== data || input[1] !== meta)
        fail(
          `Disk ${nameOf(disk)} on node ${this.context.hostname} has its data on ${data}, not on ${input.join(', ')}`,
        )
      await this.call(disk, 'detach', {}, `Cannot detach the data of disk ${nameOf(disk)}`)
    },
    pauseSync: async (disk, _device, paused) =>
      void (await this.call(
        disk,
        'pause',
        { paused },
        `Cannot pause or resume the synchronization of disk ${nameOf(disk)}`,
      )),
  }

  private async connection(disk: DiskDict): Promise<Connection> {
    const end = requireEnd(disk, this.context.hostname)
    const status = await this.status(disk)
    const { connection, disk: local, peerDisk, sync_percent, why } = status
    const { shown: displayed } = configuredOf(end, status)
    const syncing = isSyncing(connection)
    return {
      state: `${connection}, ${local}/${peerDisk}${why === undefined ? '' : `, ${why}`}`,
      ...{ standalone: connection === 'StandAlone', diskless: local === 'Diskless', syncing },
      connected: connection === 'Connected' || (syncing && connection !== 'WFReportParams'),
      ...(sync_percent !== undefined && { sync_percent }),
      upToDate: connection === 'Connected' && local === 'UpToDate' && peerDisk === 'UpToDate',
      astray:
        displayed.local !== undefined &&
        (displayed.local !== end.addresses?.local || displayed.remote !== end.addresses.remote),
    }
  }

  /** Attaches or connects whatever an existing disk lacks. */
  private async mend(disk: DiskDict, end: End, children: Children, found: MirrorStatus | undefined): Promise<void> {
    const pair = wholePair(children)
    if (found?.data === undefined && pair !== undefined) await this.attachOrGoWithout(disk, end, pair)
    else if (found === undefined && end.addresses === undefined)
      fail(`Cannot begin disk ${nameOf(disk)}: what it is kept on is missing, and it has no other node yet`)
    const { shown: displayed } = found === undefined ? { shown: undefined } : configuredOf(end, found)
    const { local, remote } = end.addresses ?? {}
    if (displayed?.local === local && displayed?.remote === remote) return
    if (displayed?.local !== undefined)
      await this.call(disk, 'disconnect', {}, `Cannot disconnect disk ${nameOf(disk)}`)
    if (local !== undefined) await this.connect(disk, end, false)
  }

  /** As with DRBD, a copy without notes is as good as missing. */
  private async attachOrGoWithout(disk: DiskDict, { minor, addresses }: End, pair: Pair): Promise<void> {
    try {
      await this.attachPair(disk, pair)
    } catch (error) {
      if (!(error instanceof NodeFailure && error.message.includes(NO_NOTES)) || addresses === undefined) throw error
      this.context.log.warn({ disk: nameOf(disk), minor }, error.message)
    }
  }

  private async attachPair(disk: DiskDict, { data, meta }: Pair): Promise<void> {
    const args = { data: data.path, meta: meta.path, size_bytes: disk.size * MIB }
    await this.call(disk, 'attach', args, `Cannot attach the data of disk ${nameOf(disk)}`)
  }

  private async connect(disk: DiskDict, { addresses, secret }: End, dual: boolean): Promise<void> {
    if (addresses === undefined) return fail(`Disk ${nameOf(disk)} has no addresses on node ${this.context.hostname}`)
    const rate = disk.params?.['resync-rate']
    const ends = {
      local: mirrorAddress(this.context, addresses.local),
      remote: mirrorAddress(this.context, addresses.remote),
      ...{ secret, dual, rate_kib: typeof rate === 'number' ? rate : 0 },
    }
    await this.call(disk, 'connect', { ends }, `Cannot connect disk ${nameOf(disk)}`)
  }

  /** Repeats a call whose refusal contains these words, because the reason may pass in a moment. */
  private async again(
    disk: DiskDict,
    method: string,
    args: Readonly<Record<string, unknown>>,
    what: string,
    refused: { readonly while: string; readonly limit_s: number },
  ): Promise<void> {
    const attempt = async (): Promise<NodeFailure | undefined> => {
      try {
        await this.call(disk, method, args, what)
        return undefined
      } catch (error) {
        if (error instanceof NodeFailure && error.message.includes(refused.while)) return error
        throw error
      }
    }
    const error = await retryUntil(this.context.clock, refused.limit_s, attempt, (failed) => failed === undefined)
    if (error !== undefined) throw error
  }

  private async status(disk: DiskDict): Promise<MirrorStatus> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const status = (await mirrorList(this.context)).get(minor)
    return (
      status ??
      fail(`Disk ${nameOf(disk)} is not active on node ${this.context.hostname}: minor ${minor} is not configured`)
    )
  }

  private call(
    disk: DiskDict,
    method: string,
    args: Readonly<Record<string, unknown>>,
    what: string,
  ): Promise<unknown> {
    const { minor } = requireEnd(disk, this.context.hostname)
    return mirrorCall(this.context, method, { minor, ...args }, what)
  }
}

export const userMirrorDriver = (context: StorageContext): Driver => new UserMirror(context)

const deviceOf = ({ socket }: MirrorStatus): Device => ({ path: socket, block: false })

/** Translates the state into the words of DRBD's tools. */
function configuredOf({ minor }: End, { data, meta, local, remote, connection, ...status }: MirrorStatus): Configured {
  return {
    state: { connection, role: status.role, disk: status.disk, peerDisk: status.peerDisk },
    shown: {
      resource: `resource${minor}`,
      ...(data !== undefined && { disk: data }),
      ...(meta !== undefined && { meta }),
      ...(local !== undefined && { local: path.basename(local) }),
      ...(remote !== undefined && { remote: path.basename(remote) }),
    },
  }
}

/** Undefined if a child is missing. The disk then works with the data of the other node. */
function wholePair([data, meta]: readonly Child[]): Pair | undefined {
  return data?.device && meta?.device && { data: data.device, meta: meta.device }
}
