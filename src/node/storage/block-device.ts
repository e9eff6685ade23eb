// Block devices of any origin.
import { isMissing } from '../../lib/disk'
import { fail } from '../failure'
import type { Device, StorageContext } from './storage'
import { order } from './tools'

/** Returns the device, `missing`, or a text if the path is not a block device. */
export async function blockDevice(
  { files }: Pick<StorageContext, 'files'>,
  path: string,
): Promise<Device | 'missing' | 'no block device'> {
  try {
    const info = await files.stat(path)
    return info.isBlockDevice() ? { path, block: true, ...numbers(info.rdev) } : 'no block device'
  } catch (error) {
    if (isMissing(error)) return 'missing'
    throw error
  }
}

export async function blockDeviceSize(context: StorageContext, path: string): Promise<number> {
  const answer = await order(context, ['blockdev', '--getsize64', path], `Cannot find out the size of ${path}`)
  const size = Number(answer.trim())
  return Number.isSafeInteger(size) && answer.trim() !== ''
    ? size
    : fail(`The program blockdev on node ${context.hostname} tells no size of ${path}: ${answer.trim()}`)
}

/** Splits the number in which Linux packs the major and the minor number. */
function numbers(rdev: number): { major: number; minor: number } {
  const [low, high] = [rdev % 2 ** 32, Math.floor(rdev / 2 ** 32)]
  return {
    major: ((low >>> 8) & 0xfff) + (high - (high % 2 ** 12)),
    minor: (low & 0xff) + ((low >>> 12) & 0xfff00),
  }
}
