// Writing whole images onto disks: from a file, from an address, from another disk.
import * as fs from 'node:fs'
import * as fsAsync from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { DiskDict } from '../../rpc/node/dicts'
import { fail, type NodeContext } from '../context'
import { storageFor } from './registry'

const MIB = 1 << 20
const ADDRESS = /^https?:\/\//

/** Writes the first `size_mib` of an image to the beginning of a disk. */
export async function writeImage(context: NodeContext, disk: DiskDict, image: string, size_mib: number): Promise<void> {
  const device = await storageFor(context, disk.dev_type).find(disk)
  if (device === undefined) return fail(`Cannot image device ${disk.iv_name ?? disk.uuid}: device not found`)
  if (size_mib < 0) fail('Negative size')
  if (size_mib > disk.size) fail('Image size is bigger than device size')
  const limit = atMost(size_mib * MIB)
  await pipeline(await openImage(image), limit, fs.createWriteStream(device.path, { flags: 'r+', flush: true }))
}

/** Copies all of one device to the beginning of another. */
export async function copyDevice(from: string, to: string): Promise<void> {
  await pipeline(
    fs.createReadStream(from, { highWaterMark: MIB }),
    fs.createWriteStream(to, { flags: 'r+', flush: true }),
  )
}

async function openImage(image: string): Promise<Readable> {
  if (!ADDRESS.test(image)) {
    const known = await fsAsync.stat(image).catch(() => fail(`Image '${image}' not found`))
    // A pipe, for one, would hold up this daemon until somebody writes into it.
    if (!known.isFile() && !known.isBlockDevice()) fail(`Image '${image}' is neither a file nor a block device`)
    return fs.createReadStream(image, { highWaterMark: MIB })
  }
  const answer = await fetch(image).catch((error: unknown) => fail(`Image '${image}' cannot be read: ${String(error)}`))
  if (!answer.ok || answer.body === null) return fail(`Image '${image}' cannot be read: HTTP status ${answer.status}`)
  return Readable.fromWeb(answer.body)
}

function atMost(bytes: number): Transform {
  let left = bytes
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const part = chunk.subarray(0, left)
      left -= part.length
      done(null, part)
    },
  })
}
