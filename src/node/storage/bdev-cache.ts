// Ganeti's notes for scripts: one file per device in use, saying whose it is, in which role, and which disk of the instance.
import * as fs from 'node:fs/promises'
import type { Paths } from '../../lib/paths'

export async function noteDevice(
  paths: Paths,
  device: string,
  owner: string,
  onPrimary: boolean,
  ivName: string,
): Promise<void> {
  await fs.mkdir(paths.bdevCacheDir, { recursive: true, mode: 0o755 })
  const role = onPrimary ? 'primary' : 'secondary'
  await fs.writeFile(noteFile(paths, device), `${owner} ${role} ${ivName}\n`, { mode: 0o644 })
}

export const forgetDevice = (paths: Paths, device: string): Promise<void> =>
  fs.rm(noteFile(paths, device), { force: true })

function noteFile(paths: Paths, device: string): string {
  const name = paths
    .virtual(device)
    .replace(/^\/(dev\/)?/, '')
    .replaceAll('/', '_')
  return `${paths.bdevCacheDir}/bdev_${name}`
}
