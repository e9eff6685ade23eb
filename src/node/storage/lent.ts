// A file for programs of this node where only QEMU reaches a disk: its storage daemon shows the disk as one, until somebody takes it back. A
// guest must not begin while it is lent.
import { isMissing } from '../../lib/disk'
import { PATH } from '../../model/constants/paths'
import { LENT_DISK_S } from '../../model/limits/storage'
import { fail } from '../failure'
import type { StorageContext } from './storage'
import { attempt, order, said } from './tools'
import { until } from './until'
import { knownUri } from './uri'

const DAEMON = 'qemu-storage-daemon'

/** The local path of the file. A disk that is lent already is not lent again. */
export async function lend(context: StorageContext, uri: string): Promise<string> {
  const { files, hostname } = context
  const { file, pidFile, directory } = placesOf(context, uri)
  if ((await daemonOf(context, uri)) !== undefined) return file
  await takeBack(context, uri)
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
  await takeBack(context, uri)
  return fail(`Cannot make a file of ${uri} on node ${hostname}, which programs of the node could use: ${said(output)}`)
}

/** A file that is not lent is fine. */
export async function takeBack(context: StorageContext, uri: string): Promise<void> {
  const { files, clock, hostname } = context
  const { file, pidFile } = placesOf(context, uri)
  const pid = await daemonOf(context, uri)
  if (pid !== undefined) {
    await attempt(context, ['kill', pid])
    const left = await until(clock, LENT_DISK_S, () => daemonOf(context, uri), (one) => one === undefined) // prettier-ignore
    if (left !== undefined)
      fail(
        `The process ${left} on node ${hostname}, which shows ${uri} as ${file}, does not end: end what uses that file`,
      )
  }
  const mounts = await files.readFile('/proc/mounts', 'utf8')
  // One that was killed leaves a dead file.
  if (mounts.split('\n').some((line) => line.split(' ')[1] === file))
    await order(context, ['umount', '--lazy', file], `Cannot take back ${uri}`)
  for (const one of [file, pidFile]) await files.rm(one, { force: true })
}

function placesOf({ paths }: StorageContext, uri: string) {
  const directory = paths.local(PATH.LENT_DISKS_DIR)
  const file = `${directory}/${uri.replaceAll(/[^\w.@-]+/g, '_')}`
  return { directory, file, pidFile: `${file}.pid` }
}

/** The process that shows it, if there is one. */
async function daemonOf(context: StorageContext, uri: string): Promise<string | undefined> {
  const { file, pidFile } = placesOf(context, uri)
  const read = (name: string) =>
    context.files.readFile(name, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return ''
      throw error
    })
  const pid = (await read(pidFile)).trim()
  if (!/^\d+$/.test(pid)) return undefined
  // The number may be another process's by now.
  const command = await read(`/proc/${pid}/cmdline`)
  return command.includes(`mountpoint=${file},`) ? pid : undefined
}
