// Writes whole images onto disks: from a file, from an address, or from another disk.
import type { FileHandle } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Files } from '../../lib/files'
import { errorText } from '../../lib/system-failure'
import { IMAGE_PACE } from '../../model/limits/node'
import type { DiskDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import type { NodeContext } from '../context'
import { Disks } from './disks'

const MIB = 1 << 20
const ADDRESS = /^https?:\/\//

/** Writes the first `size_mib` of an image to the beginning of a disk. */
export async function writeImage(context: NodeContext, disk: DiskDict, image: string, size_mib: number): Promise<void> {
  const disks = new Disks(context)
  if ((await disks.find(disk)) === undefined)
    return fail(`Cannot image device ${disk.iv_name ?? disk.uuid}: device not found`)
  if (size_mib < 0) fail('Negative size')
  if (size_mib > disk.size) fail('Image size is bigger than device size')
  if (ADDRESS.test(image)) return disks.lent(disk, (file) => download(context, image, { file, bytes: size_mib * MIB }))
  const known = await context.files.stat(image).catch(() => fail(`Image '${image}' not found`))
  // Reading a pipe, for example, would block this daemon until another program writes into it.
  if (!known.isFile() && !known.isBlockDevice()) fail(`Image '${image}' is neither a file nor a block device`)
  // A file of the kernel has a length of 0 and could block this daemon too.
  if (known.isFile() && known.size === 0) fail(`Image '${image}' is empty`)
  const source = () => context.files.createReadStream(image, { highWaterMark: MIB })
  await disks.lent(disk, (file) =>
    writeBeginning(context.files, source(), { file, bytes: size_mib * MIB }, context.caller),
  )
}

/** Copies the whole of one device to the beginning of another, until the caller is gone. */
export async function copyDevice(files: Files, from: string, to: string, caller?: AbortSignal): Promise<void> {
  const source = files.createReadStream(from, { highWaterMark: MIB })
  const target = files.createWriteStream(to, { flags: 'r+', flush: true })
  try {
    await pipeline(source, target, { ...(caller && { signal: caller }) })
  } catch (error) {
    if (caller?.aborted !== true) throw error
    fail(`The copy from ${from} to ${to} was ended, because the caller is gone: ${to} has only its beginning`)
  }
}

/** The smallest unit in which LVM copies for snapshots. */
const PIECE = 4096

/**
 * Makes the beginning of a device equal to another one, and writes only what differs. On LVM each write takes room of the volume's snapshots,
 * except where the volume has changed since; so a snapshot does not run full while its volume is rolled back to it.
 */
export async function copyDifferences(files: Files, from: string, to: string, caller?: AbortSignal): Promise<void> {
  const source = await files.open(from, 'r')
  try {
    const target = await files.open(to, 'r+')
    try {
      const [desired, present] = [Buffer.alloc(MIB), Buffer.alloc(MIB)]
      for (let at = 0; ;) {
        if (caller?.aborted)
          fail(`The copy from ${from} to ${to} was ended, because the caller is gone: ${to} has only its beginning`)
        const { bytesRead: count } = await source.read(desired, 0, MIB, at)
        if (count === 0) break
        const { bytesRead: there } = await target.read(present, 0, count, at)
        // A volume may be larger than the mirror that it belongs to.
        await writeDifferences(target, desired.subarray(0, there), present.subarray(0, there), at)
        if (there < count) break
        at += count
      }
      await target.sync()
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** Neighbouring pieces that differ are one write. */
async function writeDifferences(target: FileHandle, desired: Buffer, present: Buffer, at: number): Promise<void> {
  if (desired.equals(present)) return
  const differs = (piece: number) =>
    !desired.subarray(piece, piece + PIECE).equals(present.subarray(piece, piece + PIECE))
  for (let start = 0; start < desired.length;) {
    let end = start
    while (end < desired.length && differs(end)) end += PIECE
    for (let done = start; done < Math.min(end, desired.length);) {
      const { bytesWritten } = await target.write(desired, done, Math.min(end, desired.length) - done, at + done)
      done += bytesWritten
    }
    start = end + PIECE
  }
}

interface Target {
  readonly file: string
  /** Stops reading after this many bytes. */
  readonly bytes: number
}

/** Stops when the caller is gone, or when the server is too slow. */
async function download({ files, clock, caller }: NodeContext, image: string, target: Target): Promise<void> {
  const end = new AbortController()
  const stop = (reason: string) => end.abort(new Error(reason))
  const leave = () => stop('the caller is gone')
  caller?.addEventListener('abort', leave, { once: true })
  let received = 0
  const watch = () =>
    clock.after(IMAGE_PACE.seconds * 1000, () => {
      if (received < IMAGE_PACE.bytes) stop(`less than ${IMAGE_PACE.bytes} bytes came in ${IMAGE_PACE.seconds} seconds`)
      received = 0
      timer = watch()
    })
  let timer = watch()
  try {
    // Follows a few redirections, to http and https addresses only.
    const { ok, status, body } = await fetch(image, { signal: end.signal })
    if (!ok || body === null) throw new Error(`HTTP status ${status}`)
    await writeBeginning(
      files,
      counted(body, (bytes) => (received += bytes)),
      target,
      end.signal,
    )
  } catch (error) {
    fail(`Image '${image}' cannot be read: ${errorText(end.signal.aborted ? end.signal.reason : causeOf(error))}`)
  } finally {
    timer.cancel()
    caller?.removeEventListener('abort', leave)
    // The image is longer than the disk, so the rest is not needed.
    end.abort()
  }
}

/** The error of Node's fetch says only "fetch failed". Its cause has the reason. */
const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause) || error

async function* counted(source: AsyncIterable<Uint8Array>, count: (bytes: number) => void) {
  for await (const chunk of source) {
    count(chunk.length)
    yield chunk
  }
}

async function writeBeginning(
  files: Files,
  source: AsyncIterable<Uint8Array>,
  { file, bytes }: Target,
  signal: AbortSignal | undefined,
): Promise<void> {
  async function* beginning() {
    let left = bytes
    for await (const chunk of source) {
      yield chunk.subarray(0, left)
      left -= chunk.length
      if (left <= 0) return
    }
  }
  const output = files.createWriteStream(file, { flags: 'r+', flush: true })
  await pipeline(beginning, output, { ...(signal && { signal }) })
}
