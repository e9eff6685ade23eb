// The Gluster volume of this node. It is mounted in the cluster's directory for Gluster when it is first needed.
import type { NodeContext } from '../../context'
import { isMissing } from '../../../lib/disk'
import { errorText } from '../../../lib/system-failure'
import { PATH } from '../../../model/constants/paths'
import { TEMPLATES } from '../../../model/templates'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { checkFileStoragePath } from '../allowed-paths'
import type { StorageContext } from '../storage'
import { missingPrograms } from '../programs'
import { attempt, packageOf, said } from '../tools'

export interface Volume {
  readonly host: string
  readonly port: number
  readonly name: string
}

/** The helper program that mount(8) starts for Gluster. */
const [MOUNT_PROGRAM] = TEMPLATES.gluster.programs

export function volumeOf({ params = {} }: DiskDict): Volume {
  const { host, port, volume } = params
  if (typeof host !== 'string' || !/^[A-Za-z0-9:][A-Za-z0-9.:-]*$/.test(host))
    return fail(`The disk parameter host is the name or address of a Gluster server, not ${JSON.stringify(host)}`)
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65535)
    return fail(`The disk parameter port is a number up to 65535, not ${JSON.stringify(port)}`)
  if (typeof volume !== 'string' || !/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(volume))
    return fail(`The disk parameter volume is the name of a Gluster volume, not ${JSON.stringify(volume)}`)
  return { host, port, name: volume }
}

export const uriOf = ({ host, port, name }: Volume, path: string): string =>
  `gluster://${host.includes(':') ? `[${host}]` : host}:${port}/${name}/${path}`

/** The directory that the cluster configures for Gluster, as a local path. */
export async function glusterDirectory({ paths, files, ssconf }: StorageContext): Promise<string> {
  const directory = ssconf.value('gluster_storage_dir') ?? PATH.DEFAULT_GLUSTER_STORAGE_DIR
  if (directory === '') return fail('The cluster has no directory for Gluster; set one with gnt-cluster modify')
  return checkFileStoragePath({ paths, files }, directory)
}

/** The mounts that are in progress. Later callers wait for the first one. */
const mounting = new Map<string, Promise<void>>()

/** Mounts the volume if necessary. Returns its local directory. */
export async function mountVolume(context: StorageContext, volume: Volume): Promise<string> {
  const directory = await glusterDirectory(context)
  const key = `${volume.host} ${volume.name} ${directory}`
  const work = mounting.get(key) ?? mount(context, directory, volume).finally(() => mounting.delete(key))
  mounting.set(key, work)
  await work
  return directory
}

async function mount(context: StorageContext, directory: string, volume: Volume): Promise<void> {
  if (await isMounted(context, directory, volume)) return
  const { host, port, name } = volume
  await context.files.mkdir(directory, { recursive: true, mode: 0o755 })
  const source = `${host.includes(':') ? `[${host}]` : host}:/${name}`
  const command = ['mount', '-t', 'glusterfs', '-o', `server-port=${port}`, source, directory]
  const { output } = await attempt(context, command)
  // mount exits with 0 even if it has failed.
  if (await isMounted(context, directory, volume)) return
  const where = `${source} (port ${port}) at ${context.paths.virtual(directory)} on node ${context.hostname}`
  if (/unknown filesystem type|mount\.glusterfs.*(not found|No such file)|bad option.*helper program/i.test(output))
    fail(
      `Cannot mount ${where}: ${MOUNT_PROGRAM} is missing there; install the Debian package ${packageOf(MOUNT_PROGRAM)}`,
    )
  const way = `see whether 'gluster volume info ${name}' on ${host} says that it is started, and whether the port is open`
  fail(`Cannot mount ${where}: ${said(output) || 'mount printed no reason'}; ${way}`)
}

/** Fails if another file system is mounted there, because it must not get this volume's files. */
async function isMounted(
  { paths, files, hostname }: StorageContext,
  directory: string,
  volume: Volume,
): Promise<boolean> {
  const real = await files.realpath(directory).catch((error: unknown) => {
    if (isMissing(error)) return directory
    throw error
  })
  const rows = (await files.readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ').map(unescaped))
  const [source, , type] = rows.findLast(([, target]) => target === real || target === directory) ?? []
  if (source === undefined || type === undefined) return false
  if (type.includes('glusterfs') && source.split(':').at(-1)?.replace(/^\//, '') === volume.name) return true
  return fail(
    `On node ${hostname}, ${source} (${type}) is mounted at ${paths.virtual(directory)}, where the Gluster volume '${volume.name}' belongs: unmount it`,
  )
}

/** The kernel writes blanks in paths as octal numbers. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 8)))

/** Called after a disk was removed. Unmounts the volume if no disk of this node lies on it any more. A failure does no harm. */
export async function unmountIfUnused(context: StorageContext, directory: string): Promise<void> {
  const { paths, files, log } = context
  const links = paths.local(PATH.DISK_LINKS_DIR)
  const names = await files.readdir(links).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  const targets = await Promise.all(names.map((name) => files.readlink(`${links}/${name}`).catch(() => '')))
  if (targets.some((target) => target.startsWith(`${directory}/`))) return
  try {
    const { code, output } = await attempt(context, ['umount', directory])
    if (code !== 0) log.info({ directory, output: said(output) }, 'Gluster stays mounted')
  } catch (error) {
    log.warn({ directory, error: errorText(error) }, 'Gluster stays mounted')
  }
}

/** Returns why this node cannot have Gluster disks, as far as can be seen without mounting the volume. */
export async function glusterProblem(context: NodeContext, wire: string): Promise<string | undefined> {
  const { files } = context
  try {
    const local = await checkFileStoragePath(context, wire)
    const info = await files.stat(local).catch((error: unknown) => {
      // The directory is made when the volume is mounted.
      if (isMissing(error)) return undefined
      throw error
    })
    if (info?.isDirectory() === false) return `'${wire}' is not a directory`
    const { [MOUNT_PROGRAM]: lacking } = await missingPrograms(files, [MOUNT_PROGRAM])
    return lacking && `the program ${MOUNT_PROGRAM} is missing; install the Debian package ${lacking}`
  } catch (error) {
    return errorText(error)
  }
}
