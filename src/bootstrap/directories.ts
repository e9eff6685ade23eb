// The directories of a node.
import type { Disk } from '../lib/disk'
import type { Paths } from '../lib/paths'
import { PATH } from '../model/constants/paths'
import { DIRECTORIES } from '../model/owners'

/** Makes the directories that Ganeti's packages and `ensure-dirs` would make. */
export async function makeDirectories(disk: Disk, paths: Paths): Promise<void> {
  // With their owners, so that code which needs them later does not have to know.
  const directories = [
    ...DIRECTORIES.map(paths.local),
    ...[paths.lockDir, paths.hooksDir, paths.local(PATH.DEFAULT_FILE_STORAGE_DIR)],
  ]
  await Promise.all(directories.map((directory) => disk.makeDirectory(directory, 0o755)))
}
