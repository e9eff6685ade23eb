// Disks as files on a Gluster volume. This node mounts the volume to reach them. QEMU can reach them without the mount.
import * as path from 'node:path'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { checkFileStoragePath } from '../allowed-paths'
import { driverOfFiles } from '../file'
import type { Device, Driver, DriverFactory } from '../storage'
import { glusterDirectory, mountVolume, unmountIfUnused, uriOf, volumeOf } from './volume'

export const glusterDriver: DriverFactory = (context): Driver => {
  async function place(disk: DiskDict): Promise<string> {
    const directory = await mountVolume(context, volumeOf(disk))
    return checkFileStoragePath(context, context.paths.virtual(path.join(directory, pathOf(disk))))
  }
  const files = driverOfFiles(context, place)
  const withUri = (disk: DiskDict, device: Device): Device => ({ ...device, uri: uriOf(volumeOf(disk), pathOf(disk)) })

  return {
    ...files,
    async create(disk, ...more) {
      await context.files.mkdir(path.dirname(await place(disk)), { recursive: true, mode: 0o755 })
      return files.create(disk, ...more)
    },
    async find(disk, children) {
      const device = await files.find(disk, children)
      return device && withUri(disk, device)
    },
    assemble: async (disk, children) => withUri(disk, await files.assemble(disk, children)),
    async remove(disk, device) {
      await files.remove(disk, device)
      await unmountIfUnused(context, await glusterDirectory(context))
    },
  }
}

/** The path of the disk's file, relative to the volume's root. */
function pathOf({ logical_id }: DiskDict): string {
  const [, file] = logical_id ?? []
  if (typeof file !== 'string' || logical_id?.length !== 2)
    return fail(`A Gluster disk's id is [driver, path], not ${JSON.stringify(logical_id ?? null)}`)
  return path.posix.isAbsolute(file) ||
    file.includes('\0') ||
    path.posix.normalize(file) !== file ||
    file.startsWith('..')
    ? fail(`The path of a Gluster disk must lie below its volume, not '${file}'`)
    : file
}
