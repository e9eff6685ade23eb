// Gives programs of this node a file for a disk that only QEMU can reach. QEMU's storage daemon shows the disk as a file until it is taken
// back. A guest must not begin with the disk before that.
import { isMissing } from '../../lib/disk'
import { PATH } from '../../model/constants/paths'
import { LENT_DISK_S } from '../../model/limits/storage'
import { fail } from '../failure'
import type { StorageContext } from './storage'
import { attempt, order, said } from './tools'
import { retryUntil } from './retry-until'
import { knownUri } from './uri'

const DAEMON = 'qemu-storage-daemon'

/** Returns the local path of the file. Does nothing if the disk is already lent. */
export async function fuseExport(context: StorageContext, uri: string): Promise<string> {
  const { files, hostname } = context
  const { file, pidFile, directory } = placesOf(context, uri)
  if ((await daemonOf(context, uri)) !== undefined) return file
  await fuseUnexport(context, uri)
  const block =
    knownUri(uri) ??
    fail(`${uri} has no device on node ${hostname}, and ${DAEMON} cannot make one: only a guest reaches it`)
  await files.mkdir(directory, { recursive: true, mode: 0o700 })
  await files.writeFile(file, '', { mode: 0o600 })
  const writable = !('snapshot' in block)
  const node = { ...block, 'node-name': 'disk', 'read-only': !writable, discard: 'unmap' }
  const { code, output } = await attempt(context, [
    ...[DAEMON, '--daemonize', '--pidfile', pidFile, '--blockdev', JSON.stringify(node)],
    ...['--export', `type=fuse,id=file,node-name=disk,mountpoint=${file},writable=${writable ? 'on' : 'off'}`],
  ])
  if (code === 0) return file
  await fuseUnexport(context, uri)
  return fail(`Cannot show ${uri} as a file to the programs of node ${hostname}: ${said(output)}`)
}

/** Does nothing if the file is not lent. */
export async function fuseUnexport(context: StorageContext, uri: string): Promise<void> {
  const { files, clock, hostname } = context
  const { file, pidFile } = placesOf(context, uri)
  const pid = await daemonOf(context, uri)
  if (pid !== undefined) {
    await attempt(context, ['kill', pid])
    const left = await retryUntil(clock, LENT_DISK_S, () => daemonOf(context, uri), (one) => one === undefined) // prettier-ignore
    if (left !== undefined)
      fail(
        `The process ${left} on node ${hostname}, which shows ${uri} as ${file}, does not end: stop the programs that use that file`,
      )
  }
  const mounts = await files.readFile('/proc/mounts', 'utf8')
  // A daemon that was killed leaves a dead mount.
  if (mounts.split('\n').some((line) => line.split(' ')[1] === file))
    await order(context, ['umount', '--lazy', file], `Cannot take back ${uri}`)
  for (const one of [file, pidFile]) await files.rm(one, { force: true })
}

function placesOf({ paths }: StorageContext, uri: string) {
  const directory = paths.local(PATH.LENT_DISKS_DIR)
  const file = `${directory}/${uri.replaceAll(/[^\w.@-]+/g, '_')}`
  return { directory, file, pidFile: `${file}.pid` }
}

/** The daemon that shows the file, if it runs. */
async function daemonOf(context: StorageContext, uri: string): Promise<string | undefined> {
  const { file, pidFile } = placesOf(context, uri)
  const read = (name: string) =>
    context.files.readFile(name, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return ''
      throw error
    })
  const pid = (await read(pidFile)).trim()
  if (!/^\d+$/.test(pid)) return undefined
  // Another process may have this number by now.
  const command = await read(`/proc/${pid}/cmdline`)
  return command.includes(`mountpoint=${file},`) ? pid : undefined
}
