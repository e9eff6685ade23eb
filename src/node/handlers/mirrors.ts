// Node calls about disks mirrored between two nodes: their network, their sync, and the devices with the data. Ganeti
// names them after DRBD, its only storage of this kind.
import { mapBounded } from '../../lib/work/bounded'
import { CONNECT_S, DISKS_AT_ONCE, RECONNECTS_MAX, SYNC_LOOK_S } from '../../model/limits/storage'
import type { DiskDict } from '../../rpc/node/dicts'
import type { Handlers, NodeContext } from '../context'
import { NodeFailure, fail } from '../failure'
import { Disks } from '../storage/disks'
import { nameOf } from '../storage/name'
import { mirrorReportsOf } from '../storage/mirror-reports'
import type { Connection, Device, Mirror } from '../storage/storage'
import { retryUntil } from '../storage/retry-until'

export const mirrorHandlers = {
  async blockdev_addchildren(context, disk, added) {
    const disks = new Disks(context)
    const device = await disks.require(disk)
    const children = await disks.findAll(added)
    const missing = added.find((_, at) => children[at]?.device === undefined)
    if (missing !== undefined) fail(disks.missing(missing))
    await disks.mirror(disk).attach(disk, device, children)
    return null
  },

  async blockdev_removechildren(context, disk, removed) {
    const disks = new Disks(context)
    const device = await disks.require(disk)
    await disks.mirror(disk).detach(disk, device, await disks.places(removed))
    return null
  },

  /** For each disk: whether it is in the wanted state, and if not, why. */
  async blockdev_pause_resume_sync(context, disks, pause) {
    const trees = new Disks(context)
    const state = async (disk: DiskDict): Promise<[boolean, string | null]> => {
      try {
        const device = await trees.require(disk)
        // Other disks cannot be paused.
        if (trees.isMirror(disk)) await trees.mirror(disk).pauseSync(disk, device, pause)
        return [true, null]
      } catch (error) {
        if (error instanceof NodeFailure) return [false, error.message]
        throw error
      }
    }
    return mapBounded(disks, DISKS_AT_ONCE, state)
  },

  async drbd_disconnect_net(context, disks) {
    const trees = new Disks(context)
    for (const disk of disks) await trees.mirror(disk).disconnect(disk, await trees.require(disk))
    return null
  },

  async drbd_attach_net(context, disks, dualPrimary) {
    const found = await findAll(context, disks)
    for (const { disk, device, mirror } of found) await mirror.connect(disk, device, dualPrimary)
    // All of them connect at the same time.
    const deadline_ms = context.clock.monotonic_ms() + CONNECT_S * 1000
    for (const one of found) await awaitConnection(context, one, dualPrimary, deadline_ms)
    return null
  },

  async drbd_wait_sync(context, disks) {
    let [done, least] = [true, 100]
    for (const { disk, device, mirror } of await findAll(context, disks)) {
      const found = await retryUntil(context.clock, SYNC_LOOK_S, () => mirror.connection(disk, device), isConnected)
      if (!found.connected) fail(apart(context, disk, found))
      done &&= !found.syncing
      least = Math.min(least, found.sync_percent ?? 100)
    }
    return [done, least]
  },

  async drbd_needs_activation(context, disks) {
    const trees = new Disks(context)
    const needy: string[] = []
    for (const disk of disks) {
      const device = await trees.find(disk)
      if (device === undefined || needsHelp(await trees.mirror(disk).connection(disk, device))) needy.push(disk.uuid)
    }
    return needy
  },

  drbd_helper: (context) => mirrorReportsOf(context).helper(),
} satisfies Partial<Handlers>

const needsHelp = ({ standalone, diskless, astray }: Connection): boolean => standalone || diskless || astray

const isConnected = ({ connected }: Connection): boolean => connected

interface Found {
  readonly disk: DiskDict
  readonly device: Device
  readonly mirror: Mirror
}

function findAll(context: NodeContext, disks: readonly DiskDict[]): Promise<Found[]> {
  const trees = new Disks(context)
  return Promise.all(
    disks.map(async (disk) => ({ disk, device: await trees.require(disk), mirror: trees.mirror(disk) })),
  )
}

/**
 * Both nodes connect at the same moment. The faster one may find the other in its old state and give up, so it tries again. Both nodes must
 * have all data before both may write: a node that writes while it is behind would end the connection.
 */
async function awaitConnection(
  context: NodeContext,
  { disk, device, mirror }: Found,
  dualPrimary: boolean,
  deadline_ms: number,
): Promise<void> {
  let again = 0
  const look = async () => {
    const observed = await mirror.connection(disk, device)
    if (observed.standalone && again++ < RECONNECTS_MAX) await mirror.connect(disk, device, dualPrimary)
    return observed
  }
  const isGood = (observed: Connection) => (dualPrimary ? observed.upToDate : observed.connected)
  const isOver = (observed: Connection) => isGood(observed) || again > RECONNECTS_MAX
  const left_s = (deadline_ms - context.clock.monotonic_ms()) / 1000
  const observed = await retryUntil(context.clock, left_s, look, isOver)
  if (!isGood(observed)) fail(apart(context, disk, observed))
}

/** If both nodes were written to independently, they stay apart. An administrator must choose the node whose data is lost. */
function apart({ hostname }: NodeContext, disk: DiskDict, { state, standalone }: Connection): string {
  const what = `Disk ${nameOf(disk)} on node ${hostname} is not connected with its other node (${state})`
  if (!standalone)
    return `${what}: see whether that node runs, what it says of the disk, and whether nothing is in the way`
  return (
    `${what}: one of them has refused the other. If the kernel's log tells of a split brain, both were written to, and neither was ` +
    'changed: choose the node whose data is to stay, make it the primary node, and let the other copy be made again on a third node with ' +
    'gnt-instance replace-disks -n NODE; without a third node, stop the instance, and take the mirror away and back with gnt-instance modify ' +
    '-t plain and -t drbd'
  )
}
