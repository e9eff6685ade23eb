// The parts of a DRBD disk on this node: its data, and its notes about the blocks that the other node lacks.
import { OPTIONS_S } from '../../../model/limits/storage'
import type { DiskDict } from '../../../rpc/node/dicts'
import { NodeFailure, fail } from '../../failure'
import { nameOf } from '../name'
import type { Children, Device, StorageContext } from '../storage'
import { attempt, deviceSize, order, said } from '../tools'
import { retryUntil } from '../retry-until'
import { applyLog, attach, createMeta, diskOptions, showMeta } from './commands'

const MIB = 1 << 20
const SECTOR = 512
/** The size of the notes in bytes. LVM may round it up to whole extents and stripes. */
const META = { least: 128 * MIB, most: 1024 * MIB }

/** What drbdmeta says of a device that holds no notes. */
const NO_NOTES = 'No valid meta data found'

/** The notes are missing, as after an exchange of volumes that ended half-way. Nobody knows then what the copy of the data lacks. */
export class NotesMissing extends NodeFailure {}

export interface Pair {
  readonly data: Device
  readonly meta: Device
}

export function requirePair(disk: DiskDict, children: Children, node: string): Pair {
  const [data, meta] = children.map(({ device }) => device)
  if (data === undefined || meta === undefined || children.length !== 2)
    return fail(`Disk ${nameOf(disk)} needs two devices on node ${node}: one for its data, one for its notes`)
  return { data, meta }
}

/** Writes empty notes. Wipes the device first, because DRBD refuses to overwrite anything that looks like a file system. */
export async function writeMeta(context: StorageContext, minor: number, meta: string): Promise<void> {
  const size = await deviceSize(context, meta)
  if (size < META.least || size > META.most)
    fail(`${meta} on node ${context.hostname} has ${size / MIB} MiB: notes of DRBD need 128 MiB, and at most 1024 MiB`)
  // The kernel does this without writing zeros, if the device has a faster way.
  const wipe = ['blkdiscard', '--force', '--zeroout', `--length=${META.least}`, meta]
  await order(context, wipe, `Cannot wipe ${meta} for the notes of DRBD`)
  await order(context, createMeta(minor, meta), `Cannot write the notes of DRBD to ${meta}`)
}

export async function attachDisk(
  context: StorageContext,
  disk: DiskDict,
  minor: number,
  { data, meta }: Pair,
): Promise<void> {
  const options = diskOptions(disk, minor)
  const what = `Cannot attach the data of disk ${nameOf(disk)}`
  const applied = await attempt(context, applyLog(minor, meta.path))
  if (applied.code !== 0) {
    const text = `${what} on node ${context.hostname}: ${said(applied.output)}`
    throw applied.output.includes(NO_NOTES)
      ? new NotesMissing(`${text} on ${meta.path}; gnt-instance repair makes new volumes, which the other node fills`)
      : new NodeFailure(text)
  }
  refuseToCut(disk, await order(context, showMeta(minor, meta.path), what), context.hostname)
  await order(context, attach(disk, minor, data.path, meta.path), what)
  // Right after the data is attached, DRBD may not know yet whose options these are.
  const isTaken = ({ code }: { code: number | null }) => code === 0
  const { code, output } = await retryUntil(context.clock, OPTIONS_S, () => attempt(context, options), isTaken)
  if (code !== 0)
    fail(`Cannot set how fast disk ${nameOf(disk)} synchronizes on node ${context.hostname}: ${said(output)}`)
}

/**
 * A disk that has grown when the cluster could not note it any more is larger than it is said to be. DRBD would make it as small as it is
 * told, without a word, while its file system goes on to the end.
 */
function refuseToCut(disk: DiskDict, notes: string, node: string): void {
  const sectors = Number(/last agreed size:.*\((\d+) sectors\)/.exec(notes)?.[1] ?? 0)
  const grown_mib = (sectors * SECTOR) / MIB
  if (disk.size === 0 || grown_mib <= disk.size) return
  fail(
    `Disk ${nameOf(disk)} has grown to ${grown_mib} MiB on node ${node}, and the cluster knows of ${disk.size} MiB, which would cut its end ` +
      'off: gnt-instance activate-disks --ignore-size activates it, and gnt-cluster repair-disk-sizes records its size',
  )
}
