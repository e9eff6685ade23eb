// ensure-dirs: makes the directories of a node, and sets the owners and modes of what is in them. systemd runs it before daemons start.
import { makeDirectories } from '../bootstrap/directories'
import type { Paths } from '../lib/paths'
import { claimAll, ownedDisk } from '../model/owners'

export async function ensureDirectories(paths: Paths): Promise<void> {
  await makeDirectories(ownedDisk, paths)
  claimAll(paths.local)
}
