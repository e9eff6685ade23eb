// Ganeti's notes for scripts. Each device in use has a file that names its instance, its role, and its number among the instance's disks.
import type { Paths } from '../../lib/paths'
import type { NodeContext } from '../context'

type Places = Pick<NodeContext, 'paths' | 'files'>

export async function noteDevice(
  { paths, files }: Places,
  device: string,
  owner: string,
  onPrimary: boolean,
  ivName = '',
): Promise<void> {
  if (device === '') return
  await files.mkdir(paths.bdevCacheDir, { recursive: true, mode: 0o755 })
  const role = onPrimary ? 'primary' : 'secondary'
  await files.writeFile(noteFile(paths, device), `${owner} ${role} ${ivName || 'not_visible'}\n`, { mode: 0o644 })
}

export async function forgetDevice({ paths, files }: Places, device: string): Promise<void> {
  if (device !== '') await files.rm(noteFile(paths, device), { force: true })
}

function noteFile(paths: Paths, device: string): string {
  const name = paths
    .virtual(device)
    .replace(/^\/(dev\/)?/, '')
    .replaceAll('/', '_')
  return `${paths.bdevCacheDir}/bdev_${name}`
}
