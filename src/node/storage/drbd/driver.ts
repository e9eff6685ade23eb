// Disks of DRBD 8.4. Each of two nodes keeps the data on its first child. On the second child it notes which blocks the other node lacks.
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { HELD_DEVICE_S, REACHED_S, RESIZE_S } from '../../../model/limits/storage'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { nameOf } from '../name'
import type {
  Child,
  Children,
  Device,
  Dimensions,
  DiskId,
  Driver,
  DriverFactory,
  Health,
  Sharing,
  StorageContext,
} from '../storage'
import { attempt, deviceSize, order, orderHeld, said } from '../tools'
import { retryUntil } from '../retry-until'
import { type End, devicePath, endOf, newDevice, resourceName } from './commands'
import { type Configured, Devices, requireEnd, stranger } from './devices'
import { isSyncing, minorSize } from './kernel'
import { NotesMissing, type Pair, attachDisk, requirePair, writeMeta } from './local'
import { DrbdMirror } from './mirror'
import type { Shown } from './shown'

/** The kernel's major number for DRBD. */
const MAJOR = 147
const MIB = 1 << 20
const SECRET_AT = 5

class DrbdDriver implements Driver {
  readonly hasDisks = true
  readonly onSecondary = 'assembled'
  readonly worksWithoutChildren = true
  readonly isMadeWithInfo = true
  readonly mirror: DrbdMirror
  private readonly devices: Devices

  constructor(private readonly context: StorageContext) {
    this.devices = new Devices(context)
    this.mirror = new DrbdMirror(context, this.devices)
  }

  /** Writes only the disk's notes. The device appears when the disk is assembled. */
  async create(disk: DiskDict, _size: number, children: Children, { exclusive = false }: Sharing): Promise<DiskId> {
    const { hostname } = this.context
    if (exclusive) fail(`Disks of DRBD cannot be on node ${hostname}, where storage is exclusive`)
    const { minor } = requireEnd(disk, hostname)
    const { meta } = requirePair(disk, children, hostname)
    const kernel = await this.devices.required()
    const found = await this.devices.configured(minor, kernel)
    if (
      found?.shown.resource === resourceName(minor) &&
      stranger(found, requireEnd(disk, hostname), children) === undefined
    )
      fail(
        `Disk ${nameOf(disk)} is active on node ${hostname}, so it cannot be made again: gnt-instance deactivate-disks ends that`,
      )
    const used = found?.shown ?? (await this.devices.holder(minor, kernel))
    if (used !== undefined) fail(inUse(minor, used, hostname, `exists already, and disk ${nameOf(disk)} is to get it`))
    await writeMeta(this.context, minor, meta.path)
    return (disk.logical_id ?? []).map((part, at) => (at === SECRET_AT ? null : part))
  }

  async find(disk: DiskDict, children: Children): Promise<Device | undefined> {
    const end = endOf(disk)
    if (end === undefined) return undefined
    const found = await this.devices.configured(end.minor, await this.devices.kernel())
    if (found === undefined) return undefined
    const why = stranger(found, end, children)
    if (why === undefined) return device(end)
    this.context.log.warn(
      { disk: nameOf(disk), minor: end.minor, why },
      'a minor of DRBD does not belong to the disk that should have it',
    )
    return undefined
  }

  async health(disk: DiskDict): Promise<Health> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const { connection, disk: local, sync_percent, estimated_time } = await this.mirror.state(disk, minor)
    return {
      ...(sync_percent !== undefined && { sync_percent }),
      ...(estimated_time !== undefined && { estimated_time }),
      is_degraded: connection !== 'Connected' || local !== 'UpToDate',
      ldisk_status: localStatus(connection, local),
    }
  }

  async assemble(disk: DiskDict, children: Children): Promise<Device> {
    const end = requireEnd(disk, this.context.hostname)
    const kernel = await this.devices.required()
    const found = await this.devices.configured(end.minor, kernel)
    const holder = await this.devices.holder(end.minor, kernel)
    if (holder !== undefined) this.refuse(disk, end, holder)
    if (found === undefined) await this.begin(disk, end, children)
    else await this.mend(disk, end, children, found)
    return device(end)
  }

  async shutdown(disk: DiskDict): Promise<void> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const found = await this.devices.configured(minor, await this.devices.kernel())
    const command = ['drbdsetup', 'down', found?.shown.resource ?? resourceName(minor)]
    await this.changing(orderHeld(this.context, command, `Cannot shut down disk ${nameOf(disk)}`, HELD_DEVICE_S))
  }

  /** The data is on the children, so nothing is deleted here. */
  remove = (disk: DiskDict): Promise<void> => this.shutdown(disk)

  async open(disk: DiskDict, _device: Device, { fresh = false }: { readonly fresh?: boolean }): Promise<void> {
    const { minor } = requireEnd(disk, this.context.hostname)
    // A fresh disk has no data on any node, so this node's copy is declared complete.
    const command = ['drbdsetup', 'primary', String(minor), ...(fresh ? ['--force'] : [])]
    // A disk without local data needs the other node, to which it may not be connected yet.
    const look = () => attempt(this.context, command)
    const { code, output } = await retryUntil(
      this.context.clock,
      REACHED_S,
      look,
      (ran) => !ran.output.includes(NO_DATA),
    )
    if (code === 0) return
    const why = REFUSALS.find(([number]) => output.includes(number))?.[1]
    fail(
      `Cannot make disk ${nameOf(disk)} writable on node ${this.context.hostname}: ${said(output)}${why ? `; ${why}` : ''}`,
    )
  }

  async close(disk: DiskDict): Promise<void> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const command = ['drbdsetup', 'secondary', String(minor)]
    await orderHeld(this.context, command, `Cannot give up writing to disk ${nameOf(disk)}`, HELD_DEVICE_S)
  }

  /** DRBD gets the disk's whole new size, so a smaller one would cut off the end of the device. */
  async grow(
    disk: DiskDict,
    _device: Device,
    amount_mib: number,
    { dryRun }: { readonly dryRun: boolean },
  ): Promise<void> {
    const { hostname } = this.context
    if (amount_mib < 0) fail(`Cannot shrink disk ${nameOf(disk)} (by ${-amount_mib} MiB)`)
    const { minor } = requireEnd(disk, hostname)
    const wanted_mib = disk.size + amount_mib
    const found = await this.devices.configured(minor, await this.devices.required())
    if (found?.shown.disk === undefined)
      return fail(`Disk ${nameOf(disk)} has no data on node ${hostname}, and cannot grow`)
    const size_mib = (await minorSize(this.context, minor)) / MIB
    if (size_mib > wanted_mib)
      fail(
        `Disk ${nameOf(disk)} has ${size_mib} MiB on node ${hostname} already, and growing it to ${wanted_mib} MiB would cut its end off: ` +
          'gnt-cluster repair-disk-sizes records its size',
      )
    if ((await deviceSize(this.context, found.shown.disk)) / MIB < wanted_mib)
      fail(
        `What disk ${nameOf(disk)} is kept on has less than ${wanted_mib} MiB on node ${hostname}: it has to grow first`,
      )
    if (dryRun || size_mib === wanted_mib) return
    const command = ['drbdsetup', 'resize', String(minor), '--size', `${wanted_mib}m`]
    await this.changing(order(this.context, command, `Cannot grow disk ${nameOf(disk)}`))
    await this.hasSize(disk, minor, wanted_mib * MIB)
  }

  /** The command ends before the other node has agreed. The device has its new size only after that. */
  private async hasSize(disk: DiskDict, minor: number, wanted_bytes: number): Promise<void> {
    const look = () => minorSize(this.context, minor)
    const size_bytes = await retryUntil(this.context.clock, RESIZE_S, look, (size) => size === wanted_bytes)
    if (size_bytes === wanted_bytes) return
    fail(
      `Disk ${nameOf(disk)} has ${size_bytes / MIB} instead of ${wanted_bytes / MIB} MiB on node ${this.context.hostname}: ` +
        'its other node has not agreed to the new size; gnt-cluster verify-disks connects the two nodes again, then grow the disk once more',
    )
  }

  rename = async (disk: DiskDict): Promise<void> => fail(`Disk ${nameOf(disk)} has no name that could be changed`)
  setInfo = (): Promise<void> => Promise.resolve()
  snapshot = async (disk: DiskDict): Promise<string> =>
    fail(`Disk ${nameOf(disk)} has no volume on node ${this.context.hostname} that a snapshot could be made of`)

  async dimensions(disk: DiskDict): Promise<Dimensions> {
    const { minor } = requireEnd(disk, this.context.hostname)
    return { size_bytes: await minorSize(this.context, minor), spindles: null }
  }

  /** If a later step fails, the device is taken down again. */
  private async begin(disk: DiskDict, end: End, children: Children): Promise<void> {
    const { minor } = end
    const what = `Cannot begin disk ${nameOf(disk)}`
    const pair = wholePair(children)
    if (pair === undefined && end.addresses === undefined)
      fail(
        `${what} on node ${this.context.hostname}: the devices that it is kept on are missing, and it has no other node yet`,
      )
    for (const command of newDevice(minor)) await this.changing(order(this.context, command, what))
    try {
      if (pair !== undefined) await this.attachOrGoWithout(disk, end, pair)
      if (end.addresses !== undefined) await this.mirror.connectEnd(disk, end, resourceName(minor), false)
    } catch (error) {
      await this.changing(attempt(this.context, ['drbdsetup', 'down', resourceName(minor)]))
      throw error
    }
  }

  /** Attaches or connects whatever an existing device lacks. */
  private async mend(disk: DiskDict, end: End, children: Children, found: Configured): Promise<void> {
    const { shown: displayed } = found
    if (stranger(found, end, children) !== undefined) this.refuse(disk, end, displayed)
    const pair = wholePair(children)
    if (displayed.disk === undefined && pair !== undefined) await this.attachOrGoWithout(disk, end, pair)
    const { local, remote } = end.addresses ?? {}
    if (displayed.local === local && displayed.remote === remote) return
    if (displayed.local !== undefined) await this.mirror.disconnectFrom(disk, end, displayed)
    if (local !== undefined) await this.mirror.connectEnd(disk, end, displayed.resource, false)
  }

  /** A copy without notes is as good as missing: the disk works with the data of the other node, and is reported to be faulty here. */
  private async attachOrGoWithout(disk: DiskDict, { minor, addresses }: End, pair: Pair): Promise<void> {
    try {
      await this.changing(attachDisk(this.context, disk, minor, pair))
    } catch (error) {
      if (!(error instanceof NotesMissing) || addresses === undefined) throw error
      this.context.log.warn({ disk: nameOf(disk), minor }, error.message)
    }
  }

  private refuse(disk: DiskDict, { minor }: End, holder: Shown): never {
    const what = `is used by somebody else, so disk ${nameOf(disk)} cannot have it`
    return fail(inUse(minor, holder, this.context.hostname, what))
  }

  /** Success or failure, the lists are outdated afterwards. */
  private changing = <T>(work: Promise<T>): Promise<T> => work.finally(() => this.devices.forget())
}

export const drbdDriver: DriverFactory = (context) => new DrbdDriver(context)

const device = ({ minor }: End): Device => ({ path: devicePath(minor), block: true, major: MAJOR, minor })

/** The numbers with which DRBD refuses a state, and their meaning for the disk. */
const NO_DATA = '(-2)'
const REFUSALS = [
  [NO_DATA, 'this node does not have all data: use the other node, or wait until the disk is in sync'],
  ['(-1)', 'the other node has it open for writing, and must close it first'],
] as const

function inUse(minor: number, { resource, disk }: Shown, node: string, what: string): string {
  const data = disk === undefined ? '' : `, on ${disk}`
  return `Minor ${minor} of DRBD on node ${node} (${resource}${data}) ${what}: 'gnt-node list-drbd ${node}' shows whether a disk has it; if none does, 'drbdsetup down ${resource}' on this node frees it`
}

function localStatus(connection: string, disk: string): number {
  if (disk === 'UpToDate') return LOCAL_DISK_STATUS.ok
  if (disk === 'Diskless') return LOCAL_DISK_STATUS.faulty
  return isSyncing(connection) ? LOCAL_DISK_STATUS.syncing : LOCAL_DISK_STATUS.unknown
}

/** Undefined if a child is missing. The disk then works with the data of the other node. */
function wholePair([data, meta]: Children): Pair | undefined {
  const [one, other] = [deviceOf(data), deviceOf(meta)]
  return one && other && { data: one, meta: other }
}

const deviceOf = (child: Child | undefined): Device | undefined => child?.device
