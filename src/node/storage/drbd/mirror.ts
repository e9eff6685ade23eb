// The connection between the two nodes of a DRBD disk, and the devices that hold this node's copy.
import { DISCONNECT_S } from '../../../model/limits/storage'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { nameOf } from '../name'
import type { Children, Connection, Device, Mirror, StorageContext } from '../storage'
import { attempt, order, said } from '../tools'
import { retryUntil } from '../retry-until'
import { type End, connect } from './commands'
import { type Configured, type Devices, requireEnd } from './devices'
import { type MinorState, isSyncing } from './kernel'
import { attachDisk, requirePair, writeMeta } from './local'
import type { Shown } from './shown'

const MINOR_MAX = 255
const STANDALONE = 'StandAlone'
/** The nodes compare what they have. They may refuse each other yet, as after a split brain. */
const HANDSHAKE = 'WFReportParams'

/** Minors with which notes are being written, by whichever call. */
const noting = new Set<number>()

export class DrbdMirror implements Mirror {
  constructor(
    private readonly context: StorageContext,
    private readonly devices: Devices,
  ) {}

  async connection(disk: DiskDict): Promise<Connection> {
    const end = requireEnd(disk, this.context.hostname)
    const { state, shown: displayed } = await this.configured(disk, end.minor)
    const { connection, disk: local, peerDisk, sync_percent } = state
    const syncing = isSyncing(connection)
    return {
      state: `${connection}, ${local}/${peerDisk}`,
      standalone: connection === STANDALONE,
      diskless: local === 'Diskless',
      connected: connection === 'Connected' || (syncing && connection !== HANDSHAKE),
      syncing,
      ...(sync_percent !== undefined && { sync_percent }),
      upToDate: connection === 'Connected' && local === 'UpToDate' && peerDisk === 'UpToDate',
      astray: isAstray(displayed, end),
    }
  }

  async connect(disk: DiskDict, _device: Device, dualPrimary: boolean): Promise<void> {
    const end = requireEnd(disk, this.context.hostname)
    const { state, shown: displayed } = await this.configured(disk, end.minor)
    if (state.connection !== STANDALONE)
      fail(
        `Disk ${nameOf(disk)} cannot be connected on node ${this.context.hostname}: it is ${state.connection} already`,
      )
    await this.connectEnd(disk, end, displayed.resource, dualPrimary)
  }

  async disconnect(disk: DiskDict): Promise<void> {
    const end = requireEnd(disk, this.context.hostname)
    const { state, shown: displayed } = await this.configured(disk, end.minor)
    if (state.connection !== STANDALONE) await this.disconnectFrom(disk, end, displayed)
  }

  async attach(disk: DiskDict, _device: Device, children: Children): Promise<void> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const pair = requirePair(disk, children, this.context.hostname)
    const { shown: displayed } = await this.configured(disk, minor)
    if (displayed.disk !== undefined)
      fail(`Disk ${nameOf(disk)} has its data on ${displayed.disk} on node ${this.context.hostname} already`)
    await this.withUnusedMinor((unused) => writeMeta(this.context, unused, pair.meta.path))
    await this.changing(attachDisk(this.context, disk, minor, pair))
  }

  async detach(disk: DiskDict, _device: Device, children: Children): Promise<void> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const { shown: displayed } = await this.configured(disk, minor)
    if (displayed.disk === undefined) return
    const input = children.map(({ place }) => place)
    if (input.length !== 2 || input[0] !== displayed.disk || input[1] !== displayed.meta)
      fail(
        `Disk ${nameOf(disk)} on node ${this.context.hostname} has its data on ${displayed.disk}, not on ${input.join(', ')}`,
      )
    const what = `Cannot detach the data of disk ${nameOf(disk)}`
    await this.changing(order(this.context, ['drbdsetup', 'detach', String(minor)], what))
  }

  async pauseSync(disk: DiskDict, _device: Device, pause: boolean): Promise<void> {
    const { minor } = requireEnd(disk, this.context.hostname)
    const [verb, what] = pause ? ['pause-sync', 'pause'] : ['resume-sync', 'resume']
    const { code, output } = await attempt(this.context, ['drbdsetup', verb, String(minor)])
    if (code === 0 || /already (set|cleared)/i.test(output)) return
    fail(`Cannot ${what} the synchronization of disk ${nameOf(disk)} on node ${this.context.hostname}: ${said(output)}`)
  }

  async state(disk: DiskDict, minor: number): Promise<MinorState> {
    return (await this.devices.required()).minors.get(minor) ?? fail(this.gone(disk, minor))
  }

  async connectEnd(disk: DiskDict, end: End, resource: string, dualPrimary: boolean): Promise<void> {
    const command = connect(disk, end, resource, dualPrimary)
    await this.changing(order(this.context, command, `Cannot connect disk ${nameOf(disk)}`))
  }

  /** If the other node makes a request at the same moment, this one may be lost. So it is repeated. */
  async disconnectFrom(disk: DiskDict, end: End, { local, remote }: Shown): Promise<void> {
    const { hostname, clock } = this.context
    const [from, to] = [local ?? end.addresses?.local, remote ?? end.addresses?.remote]
    if (from === undefined || to === undefined) return fail(`Disk ${nameOf(disk)} has no addresses on node ${hostname}`)
    const command = ['drbdsetup', 'disconnect', from, to]
    const look = async () => {
      const { output } = await this.changing(attempt(this.context, command))
      // Without data and without a connection, the minor is no longer configured.
      const state = (await this.devices.required()).minors.get(end.minor)
      return { output, connection: state?.connection ?? STANDALONE }
    }
    const observed = await retryUntil(clock, DISCONNECT_S, look, ({ connection }) => connection === STANDALONE)
    if (observed.connection !== STANDALONE)
      fail(
        `Disk ${nameOf(disk)} on node ${hostname} does not close its connection (${observed.connection}): ${said(observed.output)}`,
      )
  }

  /**
   * drbdmeta needs a minor, locks it while it works, and refuses one that is in use. The master gives the lowest free minors to disks, so
   * this takes the highest.
   */
  private async withUnusedMinor(work: (minor: number) => Promise<void>): Promise<void> {
    const { minors, named } = await this.devices.required()
    for (let minor = MINOR_MAX; minor >= 0; minor--) {
      if (minors.has(minor) || named.has(minor) || noting.has(minor)) continue
      noting.add(minor)
      return work(minor).finally(() => noting.delete(minor))
    }
    fail(`All minors of DRBD on node ${this.context.hostname} are in use`)
  }

  private async configured(disk: DiskDict, minor: number): Promise<Configured> {
    return (await this.devices.configured(minor, await this.devices.required())) ?? fail(this.gone(disk, minor))
  }

  private gone = (disk: DiskDict, minor: number): string =>
    `Disk ${nameOf(disk)} is not active on node ${this.context.hostname}: minor ${minor} of DRBD is not configured`

  private changing = <T>(work: Promise<T>): Promise<T> => work.finally(() => this.devices.forget())
}

/** The device is connected to a node that is no longer the disk's. */
const isAstray = (displayed: Shown, { addresses }: End): boolean =>
  displayed.local !== undefined && (displayed.local !== addresses?.local || displayed.remote !== addresses.remote)
