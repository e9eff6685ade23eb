// Owners and modes of Ganeti's files and directories, in one table like Ganeti's ensure-dirs. So Ganeti's daemons,
// which run as several users, can start on files that ours leave. Only root can give files away. If Ganeti's accounts
// do not exist, files stay with their writer, and a group may do only what everybody may. `ensure-dirs` and noded apply
// the table; verify checks it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fileOwner } from '../lib/file/accounts'
import { type Disk, type FileOwner, isMissing, systemDisk } from '../lib/disk'
import { type LockFile, lockFile } from '../lib/file/lock'
import { LogFile } from '../lib/file/log-file'
import { GROUP, MODE, USER } from './constants/daemons'
import { PATH } from './constants/paths'
import { LOG_FILE } from './limits/daemons'

type Claim = readonly [user: string, group: string, mode: number]

const { masterd, noded, rapi, confd } = USER
const ROOT = [noded, GROUP.noded] as const
const MASTER = [masterd, GROUP.masterd] as const
const QUEUE = [masterd, GROUP.daemons] as const
const NODE = [noded, GROUP.masterd] as const
const METAD = [USER.metad, GROUP.metad] as const
const LOG = [noded, GROUP.daemons] as const
const log = (name: string): string => `${PATH.LOG_DIR}/${name}.log`

/**
 * Lock files of daemons, and that of the configuration's owner. Whoever may write in their folder could replace them, so all of these may
 * open them, whoever made them.
 */
const LOCKS: Readonly<Record<string, readonly string[]>> = {
  [noded]: ['node', 'noded', 'kvmd', 'mond', 'sim', 'mirrors'],
  [masterd]: ['wconfd', 'luxid', 'maintd', 'config'],
  [rapi]: ['rapi'],
  [confd]: ['confd'],
  [USER.metad]: ['metad'],
}

const exact: Readonly<Record<string, Claim>> = {
  [PATH.DATA_DIR]: [...MASTER, 0o755],
  [PATH.CLUSTER_DOMAIN_SECRET_FILE]: [...MASTER, 0o640],
  [PATH.CLUSTER_CONF_FILE]: [masterd, GROUP.confd, MODE.config],
  [`${PATH.DATA_DIR}/config.journal`]: [masterd, GROUP.confd, MODE.config],
  [`${PATH.DATA_DIR}/gantry.data`]: [...MASTER, MODE.secureFile],
  [`${PATH.DATA_DIR}/gantry-events.data`]: [...MASTER, MODE.secureFile],
  [`${PATH.DATA_DIR}/gantry-watcher.data`]: [...MASTER, MODE.secureFile],
  [PATH.LOCK_STATUS_FILE]: [...MASTER, MODE.secureFile],
  [PATH.TEMP_RES_STATUS_FILE]: [...MASTER, MODE.secureFile],
  [PATH.CONFD_HMAC_KEY]: [confd, GROUP.masterd, 0o440],
  [PATH.SSH_KNOWN_HOSTS_FILE]: [...MASTER, 0o644],
  [PATH.RAPI_CERT_FILE]: [rapi, GROUP.masterd, 0o440],
  [PATH.SPICE_CERT_FILE]: [...NODE, 0o440],
  [PATH.SPICE_CACERT_FILE]: [...NODE, 0o440],
  [PATH.NODED_CERT_FILE]: [...MASTER, 0o440],
  [PATH.NODED_CLIENT_CERT_FILE]: [...MASTER, 0o440],
  // It later replaces the current one without a change of owner or mode.
  [PATH.WAITING_CLIENT_CERT_FILE]: [...MASTER, 0o440],
  [PATH.WATCHER_PAUSEFILE]: [...MASTER, 0o644],
  [PATH.INTENT_TO_UPGRADE]: [...ROOT, 0o644],
  [PATH.RAPI_DATA_DIR]: [rapi, GROUP.masterd, 0o750],
  [PATH.RAPI_USERS_FILE]: [rapi, GROUP.masterd, 0o640],
  [PATH.QUEUE_DIR]: [...QUEUE, 0o750],
  [PATH.JOB_QUEUE_DRAIN_FILE]: [...QUEUE, 0o644],
  [PATH.JOB_QUEUE_ARCHIVE_DIR]: [...QUEUE, 0o750],
  [PATH.RUN_DIR]: [...QUEUE, MODE.runDirectory],
  ...Object.fromEntries(
    Object.entries(LOCKS).flatMap(([user, names]) =>
      names.map((name) => [`${PATH.RUN_DIR}/ganeti-${name}.lock`, [user, GROUP.daemons, 0o660] as const]),
    ),
  ),
  [PATH.MOND_HISTORY]: [...ROOT, MODE.secureFile],
  [PATH.WATCHER_CALL]: [...QUEUE, 0o644],
  [PATH.SOCKET_DIR]: [...QUEUE, 0o770],
  [PATH.MASTER_SOCKET]: [...QUEUE, MODE.luxiSocket],
  [PATH.QUERY_SOCKET]: [...QUEUE, MODE.luxiSocket],
  [PATH.LIVELOCK_DIR]: [...QUEUE, 0o750],
  [PATH.LUXID_MESSAGE_DIR]: [...QUEUE, 0o750],
  [PATH.BDEV_CACHE_DIR]: [...NODE, 0o755],
  [PATH.UIDPOOL_LOCKDIR]: [...NODE, 0o750],
  [PATH.DISK_LINKS_DIR]: [...NODE, 0o755],
  [PATH.CRYPTO_KEYS_DIR]: [...NODE, MODE.secureDirectory],
  [PATH.IMPORT_EXPORT_DIR]: [...NODE, 0o755],
  [PATH.INSTANCE_REASON_DIR]: [...ROOT, 0o755],
  [PATH.METADATA_DIR]: [...METAD, MODE.secureDirectory],
  [PATH.METADATA_SOCKET_DIR]: [...METAD, MODE.secureDirectory],
  [PATH.LENT_DISKS_DIR]: [...ROOT, MODE.secureDirectory],
  [PATH.EXPORT_DIR]: [...ROOT, 0o750],
  // Guests may be started as other users, who look for their own files there.
  ...Object.fromEntries(
    ['', '/pid', '/uid', '/ctrl', '/conf', '/nic', '/chroot'].map((part) => [
      `${PATH.KVM_DIR}${part}`,
      [...ROOT, MODE.runDirectory] as const,
    ]),
  ),
  [path.posix.dirname(PATH.DEFAULT_FILE_STORAGE_DIR)]: [...ROOT, 0o755],
  [PATH.DEFAULT_FILE_STORAGE_DIR]: [...ROOT, 0o755],
  [PATH.SSH_PUB_KEYS]: [...ROOT, MODE.secureFile],
  [PATH.INSTANCE_STATUS_FILE]: [...MASTER, 0o644],
  [PATH.VNC_PASSWORD_FILE]: [...ROOT, MODE.secureFile],
  [PATH.LOG_DIR]: [...QUEUE, 0o770],
  // Job processes of both write it. Every other log has one writer.
  [log('jobs')]: [masterd, GROUP.luxid, MODE.secureFile],
  [log('node-daemon')]: [...ROOT, MODE.secureFile],
  [log('monitoring-daemon')]: [...ROOT, MODE.secureFile],
  [log('kvm-daemon')]: [USER.kvmd, GROUP.daemons, MODE.secureFile],
  [log('meta-daemon')]: [...METAD, MODE.secureFile],
  [log('conf-daemon')]: [confd, GROUP.confd, MODE.secureFile],
  [log('wconf-daemon')]: [...MASTER, MODE.secureFile],
  [log('luxi-daemon')]: [masterd, GROUP.luxid, MODE.secureFile],
  [log('maintenance-daemon')]: [...MASTER, MODE.secureFile],
  [log('rapi-daemon')]: [rapi, GROUP.rapi, MODE.secureFile],
  [log('watcher')]: [...ROOT, MODE.secureFile],
  [PATH.LOG_OS_DIR]: [...LOG, 0o750],
  [PATH.LOG_ES_DIR]: [...LOG, 0o750],
  [PATH.LOG_XEN_DIR]: [...LOG, 0o750],
  [PATH.LOG_KVM_DIR]: [...LOG, 0o750],
}

/** Owners and modes of files whose names vary, by directory. */
const named: readonly [directory: string, name: RegExp, claim: Claim][] = [
  [PATH.DATA_DIR, /^ssconf_/, [...ROOT, MODE.ssconf]],
  // Renewals of secrets and conversions of the configuration keep the former file under these names.
  [PATH.DATA_DIR, /\.(backup-\d+|before-upgrade)$/, [...ROOT, MODE.secureFile]],
  // The watcher, which is root, and maintd write them.
  [PATH.DATA_DIR, /^watcher\.[0-9a-f-]+\.data$/, [...MASTER, 0o640]],
  [PATH.DATA_DIR, /^watcher\.[0-9a-f-]+\.instance-status$/, [...MASTER, 0o644]],
  [PATH.RUN_DIR, /^ganeti-watcher\.[0-9a-f-]+\.(next|lock)$/, [masterd, GROUP.daemons, 0o660]],
  [PATH.INSTANCE_REASON_DIR, /^[^.]/, [...ROOT, MODE.secureFile]],
  [PATH.QUEUE_DIR, /^(job-\d+|serial|version|lock|journal|journal\.old)$/, [...QUEUE, MODE.queueFile]],
  [PATH.JOB_QUEUE_ARCHIVE_DIR, /^\d+$/, [...QUEUE, 0o750]],
]
const ARCHIVED_JOB = new RegExp(`^${PATH.JOB_QUEUE_ARCHIVE_DIR}/\\d+/job-\\d+$`)

/** The part of a path where Ganeti's layout begins; it may be below the root of a virtual node. */
const LAYOUT = /\/(var\/(lib|run|log)|etc|srv)\/ganeti(?=\/|$)(?!.*\/(var\/(lib|run|log)|etc|srv)\/ganeti(\/|$))/

export interface Belonging {
  readonly mode: number
  readonly owner?: FileOwner
}

/** The table's accounts and mode for a file. Throws for a file that the table does not name. */
export function claimOfFile(file: string): { readonly owner: string; readonly group: string; readonly mode: number } {
  const found = claimOf(file)
  if (found === undefined) throw new Error(`nobody owns ${file}: src/model/owners.ts does not name it`)
  const [owner, group, mode] = found
  return { owner, group, mode }
}

/**
 * Whether there is nothing to correct. We ignore anything that is not our file, such as a link, and files of other
 * users where nothing is given away.
 */
export function isInPlace(stat: fs.Stats, { mode, owner }: Belonging): boolean {
  if (stat.isSymbolicLink() || (stat.isFile() && stat.nlink > 1)) return true
  const hasMode = (stat.mode & 0o7777) === mode
  if (owner === undefined) return hasMode || stat.uid !== process.getuid?.()
  return hasMode && stat.uid === owner.uid && stat.gid === owner.gid
}

/** Undefined for a file that the table does not name. */
export function belonging(file: string): Belonging | undefined {
  const start = file.search(LAYOUT)
  const claim = start < 0 ? undefined : claimOf(file.slice(start))
  if (claim === undefined) return undefined
  const [user, group, mode] = claim
  const owner = fileOwner(fs, user, group)
  return owner === undefined ? { mode: forNoGroup(mode) } : { mode, owner }
}

/** Without Ganeti's groups, a group may do what everybody may. */
const forNoGroup = (mode: number): number => (mode & 0o707) | ((mode & 0o007) << 3)

function claimOf(file: string): Claim | undefined {
  const known = Object.hasOwn(exact, file) ? exact[file] : undefined
  if (known !== undefined) return known
  if (ARCHIVED_JOB.test(file)) return [...QUEUE, MODE.queueFile]
  const [directory, name] = [path.posix.dirname(file), path.posix.basename(file)]
  return named.find(([where, pattern]) => where === directory && pattern.test(name))?.[2]
}

/** Gives an existing file or directory to its owner. Ignores anything that is not our file, such as a link. */
export function claim(file: string): void {
  const found = belonging(file)
  const fd = found && openPlace(file)
  if (found === undefined || fd === undefined) return
  try {
    give(fd, found)
  } finally {
    fs.closeSync(fd)
  }
}

/** Linux's O_PATH: a handle without opening the file, also for a socket. */
const O_PATH = 0o10000000

function openPlace(file: string): number | undefined {
  try {
    return fs.openSync(file, O_PATH | fs.constants.O_NOFOLLOW)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * Others may write to some of these directories. So we make sure to give away the very file that we looked at, and no
 * second name of something else.
 */
function give(fd: number, desired: Belonging): void {
  const stat = fs.fstatSync(fd)
  if (isInPlace(stat, desired)) return
  const { mode, owner } = desired
  const place = `/proc/self/fd/${fd}`
  if (owner !== undefined && (stat.uid !== owner.uid || stat.gid !== owner.gid))
    fs.chownSync(place, owner.uid, owner.gid)
  if ((stat.mode & 0o7777) !== mode) fs.chmodSync(place, mode)
}

/** The files and directories that the table names exactly. The directories of files with varying names are below. */
export const NAMED_FILES: readonly string[] = Object.keys(exact)
/** Only directories are executable. */
export const DIRECTORIES: readonly string[] = Object.entries(exact).flatMap(([place, [, , mode]]) =>
  (mode & 0o100) === 0 ? [] : [place],
)
export const NAMED_IN: readonly string[] = [...new Set(named.map(([directory]) => directory))]

/**
 * Applies the table to all existing files, as Ganeti's ensure-dirs does when daemons start. Skips archived jobs: there
 * are too many.
 */
export function claimAll(local: (virtual: string) => string): void {
  for (const file of NAMED_FILES) claim(local(file))
  for (const directory of NAMED_IN) {
    const files = fs.existsSync(local(directory)) ? fs.readdirSync(local(directory)) : []
    for (const name of files) claim(path.join(local(directory), name))
  }
}

/** A daemon's log file; a new file gets the right owner. */
export const ownedLogFile = (file: string): LogFile => new LogFile({ file, ...LOG_FILE, opened: claim })

/** A lock file that root makes must not keep out the account of a daemon that starts later. */
export const ownedLockFile: LockFile = async (file, mode, wait_s) => {
  const held = await lockFile(file, mode, wait_s)
  try {
    claim(file)
  } catch {
    // Root without the right to give files away, as kvmd has it: ensure-dirs does it.
  }
  return held
}

/** A disk that gives files the owners and modes of the table. */
export const ownedDisk: Disk = {
  ...systemDisk,

  write: (file, data, options) => systemDisk.write(file, data, { ...options, ...belonging(file) }),

  append: (file, data, options) => systemDisk.append(file, data, { ...options, ...belonging(file) }),

  async openAppender(file, options) {
    const appender = await systemDisk.openAppender(file, options)
    claim(file)
    return appender
  },

  async makeDirectory(directory, mode) {
    const missing: string[] = []
    for (let one = directory; !fs.existsSync(one); one = path.dirname(one)) missing.unshift(one)
    await systemDisk.makeDirectory(directory, mode)
    for (const one of missing) claim(one)
  },
}
