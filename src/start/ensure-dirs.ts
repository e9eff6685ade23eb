// ensure-dirs: the directories of a node are there, and what is in them has its owners and modes. systemd runs it before daemons start.
import { makeDirectories } from '../bootstrap/directories'
import type { Paths } from '../lib/paths'
import { claimAll, ownedDisk } from '../model/owners'

export async function ensureDirectories(paths: Paths): Promise<void> {
  await makeDirectories(ownedDisk, paths)
  claimAll(paths.local)
}
