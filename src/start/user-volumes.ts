// Volumes and mirrors in user space are for trials on one machine: a real node has LVM and DRBD, and uses nothing else.
import type { Files } from '../lib/files'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { PATH } from '../model/constants/paths'

/** Their folder, or undefined if this node has none. */
export function userVolumesOf(paths: Paths, files: Pick<Files, 'existsSync'>, log?: Log): string | undefined {
  const folder = paths.local(PATH.USER_VOLUMES_DIR)
  if (!files.existsSync(folder)) return undefined
  if (paths.root !== '') return folder
  log?.warn({ folder }, 'volumes in user space are for trials with virtual nodes; this real node does not use them')
  return undefined
}
