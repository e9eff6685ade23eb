// Checks before a cluster is made on this node, with Ganeti's texts. They change nothing.
import { isIPv4 } from 'node:net'
import * as path from 'node:path'
import type { FirstFields } from '../model/cluster'
import { type Disk, isMissing } from '../lib/disk'
import type { Files } from '../lib/files'
import { hostAddress } from '../lib/file/hosts-file'
import type { Paths } from '../lib/paths'
import { answersTcp, ownsAddress, resolveHost, servesTcp } from '../lib/net/resolve'
import { PORT } from '../model/constants/daemons'
import { insteadOfGroup, MIN_VG_SIZE_MIB } from '../model/constants/disks'
import { PATH } from '../model/constants/paths'
import { ECODE, type ErrorCode, OpPrereqError } from '../model/errors'
import { type IpVersion, familyOf, isLoopback, versionOf } from '../model/ip'
import { CLUSTER_IP_PING_S } from '../model/limits/master'
import { isHostname, normalHostname } from '../model/names'
import { otherName } from './own-name'
import { directoryOf, isDrbd, neededFor, titleOfNeeded } from '../model/templates'

export interface InitChecks {
  paths: Paths
  disk: Disk
  files: Files
  /** This node's volume groups with their sizes. */
  volumeGroups(): Promise<readonly { name: string; size_mib: number }[]>
  /** The local path of a directory; refuses one that the node's administrator does not allow. */
  storageDirectory(directory: string): Promise<string>
  /** The programs that this node lacks, with their packages. */
  missingPrograms(programs: readonly string[]): Promise<Readonly<Record<string, string>>>
  /** Refuses a kernel whose DRBD cannot be used. */
  requireDrbd(): Promise<unknown>
}

export interface WantedCluster {
  name: string
  secondaryAddress: string | undefined
  cluster: FirstFields
}

/** Normalized names, and their addresses. */
export interface Places {
  name: string
  address: string
  host: string
  hostAddress: string
}

export async function checkNewCluster(
  desired: WantedCluster,
  options: InitChecks,
): Promise<{ places: Places; directories: string[] }> {
  await checkNothingThere(options)
  const places = await findPlaces(desired, options)
  await checkStorage(desired.cluster, options)
  await checkNetworkDevice(desired.cluster, options.disk)
  return { places, directories: await Promise.all(storageDirectories(desired.cluster, options)) }
}

const refuse = (text: string, code: ErrorCode): never => {
  throw new OpPrereqError(text, code)
}

/** Files that only an existing cluster has. A node without a cluster has only directories there. */
export async function stateFiles({ paths, files }: Pick<InitChecks, 'paths' | 'files'>): Promise<string[]> {
  const { queueDir, dataDir, archiveDir } = paths
  const inAll = [queueDir, dataDir, archiveDir].map(async (directory) => {
    const entries = await files.readdir(directory, { withFileTypes: true }).catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => path.join(directory, entry.name))
  })
  return (await Promise.all(inAll)).flat()
}

async function checkNothingThere({ paths, files, disk }: InitChecks): Promise<void> {
  if ((await disk.read(paths.configFile)) !== undefined) refuse('Cluster is already initialised', ECODE.STATE)
  const [left] = await stateFiles({ paths, files })
  if (left !== undefined)
    refuse(
      `${path.dirname(left)} contains non-directory entries like ${path.basename(left)}. Remove left-overs of an old cluster ` +
        'before initialising a new one',
      ECODE.STATE,
    )
}

async function findPlaces(desired: WantedCluster, options: InitChecks): Promise<Places> {
  const { paths } = options
  const host = normalHostname(paths.hostname)
  const other = paths.root === '' ? otherName(paths.hostname, host) : undefined
  if (other !== undefined) refuse(`This host cannot be a node: ${other}`, ECODE.ENVIRON)
  const ipVersion = versionOf(desired.cluster.primary_ip_family ?? familyOf(4))
  const { secondaryAddress } = desired
  if (ipVersion === 6 && secondaryAddress === undefined)
    refuse('When using a IPv6 primary address, a valid IPv4 address must be given as secondary.', ECODE.INVAL)
  if (secondaryAddress !== undefined && !isIPv4(secondaryAddress))
    refuse(`Secondary IP address (${secondaryAddress}) has to be a valid IPv4 address.`, ECODE.INVAL)
  const own = await addressOf(host, ipVersion, options)
  // A virtual node only has loopback addresses.
  if (isLoopback(own) && paths.root === '')
    refuse(
      `This host's IP (${own}) resolves to a loopback address. Please fix DNS or ${PATH.ETC_HOSTS}.`,
      ECODE.ENVIRON,
    )
  if (!(await ownsAddress(own)))
    refuse(
      `Inconsistency: this host's name resolves to ${own},\nbut this ip address does not belong to this host`,
      ECODE.ENVIRON,
    )
  const name = normalHostname(desired.name)
  if (!isHostname(name)) refuse(`Invalid hostname '${name}'`, ECODE.INVAL)
  const address = await addressOf(name, ipVersion, options)
  const second = secondaryAddress ?? own
  if (!(await ownsAddress(second)))
    refuse(`You gave ${second} as secondary IP, but it does not belong to this host.`, ECODE.ENVIRON)
  // All loopback addresses belong to this machine, so a virtual cluster's address is in use only if somebody serves it.
  const inUse = paths.root === '' ? answersTcp : servesTcp
  if (await inUse(address, PORT.noded, CLUSTER_IP_PING_S)) refuse('Cluster IP already active', ECODE.NOTUNIQUE)
  if (await servesTcp(own, PORT.noded, CLUSTER_IP_PING_S))
    refuse(`A node daemon runs at ${own} already: stop it before a new cluster is made`, ECODE.STATE)
  return { name, address, host, hostAddress: own }
}

/** Reads the node's own hosts file first: the system does not know a virtual node's. */
async function addressOf(name: string, version: IpVersion, { paths, disk }: InitChecks): Promise<string> {
  const found = hostAddress((await textOf(disk, paths.local(PATH.ETC_HOSTS))) ?? '', name, version)
  const resolved = found === undefined ? await resolveHost(name, version) : { ip: found }
  if ('ip' in resolved) return resolved.ip
  return refuse(`The given name (${name}) does not resolve: ${resolved.error}`, ECODE.RESOLVER)
}

async function checkStorage(
  { volume_group_name: name, enabled_disk_templates: templates, drbd_usermode_helper: helper, diskparams }: FirstFields,
  options: InitChecks,
): Promise<void> {
  if (name !== undefined && name !== '') {
    const groups = await options.volumeGroups()
    const group = groups.find((one) => one.name === name)
    if (group === undefined)
      return refuse(
        `Error: volume group '${name}' missing: ${insteadOfGroup(groups.map((one) => one.name))}`,
        ECODE.INVAL,
      )
    if (group.size_mib < MIN_VG_SIZE_MIB)
      refuse(
        `Error: volume group '${name}' too small (${MIN_VG_SIZE_MIB} MiB required, ${Math.floor(group.size_mib)} MiB found)`,
        ECODE.INVAL,
      )
  }
  for (const template of templates) {
    const needed = neededFor(template, diskparams?.[template]?.['access'])
    const [missing] = Object.entries(await options.missingPrograms(needed))
    if (missing !== undefined)
      refuse(
        `Disk template '${template}' cannot be enabled: this node has no ${titleOfNeeded(missing[0])}; install the Debian package ` +
          `${missing[1]}, or choose others with --enabled-disk-templates`,
        ECODE.ENVIRON,
      )
  }
  if (!templates.some(isDrbd)) return
  const current = (await textOf(options.disk, DRBD_HELPER_FILE))?.trim()
  if (current === undefined)
    refuse(
      'Error while checking drbd helper (disable drbd with --enabled-disk-templates if you are not using drbd): ' +
        `${DRBD_HELPER_FILE} is missing: the drbd module is not loaded, or is one without it; the package drbd-utils has its programs`,
      ECODE.ENVIRON,
    )
  await options.requireDrbd()
  if (current !== helper)
    refuse(`Error: requiring ${helper} as drbd helper but ${current} is the current helper`, ECODE.INVAL)
}

const DRBD_HELPER_FILE = '/sys/module/drbd/parameters/usermode_helper'

/** The node makes an Open vSwitch later. */
async function checkNetworkDevice({ master_netdev, nicparams }: FirstFields, disk: Disk): Promise<void> {
  if (nicparams?.default.mode === 'openvswitch' || (await disk.list('/sys/class/net')).includes(master_netdev)) return
  refuse(`Invalid master netdev given (${master_netdev}): 'Device "${master_netdev}" does not exist.'`, ECODE.INVAL)
}

/** Returns the storage directories of the enabled disk templates. */
function storageDirectories(
  { enabled_disk_templates, ...cluster }: FirstFields,
  options: InitChecks,
): Promise<string>[] {
  const directories = {
    file_storage_dir: PATH.DEFAULT_FILE_STORAGE_DIR,
    shared_file_storage_dir: PATH.DEFAULT_SHARED_FILE_STORAGE_DIR,
    gluster_storage_dir: PATH.DEFAULT_GLUSTER_STORAGE_DIR,
    ...cluster,
  }
  return enabled_disk_templates.flatMap((template) => {
    const directory = directoryOf(directories, template)
    return directory === undefined ? [] : [options.storageDirectory(directory)]
  })
}

export const textOf = async (disk: Disk, file: string): Promise<string | undefined> =>
  (await disk.read(file))?.toString('utf8')
