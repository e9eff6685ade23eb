// The directories of a node.
import type { Disk } from '../lib/disk'
import type { Paths } from '../lib/paths'
import { PATH } from '../model/constants/paths'
import { DIRECTORIES } from '../model/owners'

/** The directories that Ganeti's packages and `ensure-dirs` would have made. */
export async function makeDirectories(disk: Disk, paths: Paths): Promise<void> {
  // Who makes one later, when it is needed, need not know whose it is.
  const directories = [
    ...DIRECTORIES.map(paths.local),
    ...[paths.lockDir, paths.hooksDir, paths.local(PATH.DEFAULT_FILE_STORAGE_DIR)],
  ]
  await Promise.all(directories.map((directory) => disk.makeDirectory(directory, 0o755)))
}
