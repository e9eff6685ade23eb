// cfgupgrade: converts the configuration of a stopped cluster to 3.1, or from 3.1 back to 3.0. Keeps the old file
// beside the new one. Writes nothing before it has parsed the result as our daemons will.
import * as path from 'node:path'
import { downgradable, downgradeConfig } from '../config/conversion/downgrade'
import { objectAt, type Raw } from '../config/conversion/raw'
import { isUpgradable, upgradeConfig } from '../config/conversion/upgrade'
import { encodeConfig } from '../config/encode'
import { loadConfig, RESTORE_IT } from '../config/upgrade'
import { verifyConfig } from '../config/verify'
import { type Clock, seconds } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { LockFile } from '../lib/file/lock'
import { isServed } from '../lib/net/json-socket'
import type { Paths } from '../lib/paths'
import type { Random } from '../lib/random'
import { isObject } from '../lib/shapes/shape'
import { errorText } from '../lib/system-failure'
import type { ConfigData } from '../model/config'
import { MODE } from '../model/constants/daemons'
import { HV_PARAMS, HYPERVISORS } from '../model/constants/hypervisors'
import { PATH } from '../model/constants/paths'
import { CONFIG_VERSION, CONFIG_VERSIONS_SUPPORTED } from '../model/constants/versions'
import { ConfigurationError, ECODE, OpPrereqError } from '../model/errors'
import { asConfigOwner } from '../replication/config-owner'

export interface ConvertOptions {
  readonly paths: Paths
  readonly disk: Disk
  readonly random: Random
  readonly clock: Clock
  readonly lockFile?: LockFile
  /** The configuration's directory; default: this node's. */
  readonly directory?: string | undefined
  /** Where file-storage-paths is; default: where this node has it, and nowhere for a configuration of another directory. */
  readonly lists?: string | undefined
  /** To 3.0 again. */
  readonly down: boolean
  /** Does everything except writing. */
  readonly dryRun: boolean
  /** Whether the result's objects must fit together. */
  readonly verify: boolean
  /** Also runs on a machine other than the master. */
  readonly ignoreHostname: boolean
}

export interface Converted {
  readonly from: string
  readonly to: string
  /** Notices for the administrator. */
  readonly notices: readonly string[]
  /** Objects that do not fit together: the file was written, and a person must mend it. */
  readonly problems: readonly string[]
  /** The old file; undefined if nothing was written. */
  readonly backup: string | undefined
}

export async function convertConfig(options: ConvertOptions): Promise<Converted> {
  const directory = options.directory ?? options.paths.dataDir
  const work = () => convert(options, directory)
  // No daemon uses configurations in other directories.
  if (directory !== options.paths.dataDir) return work()
  await refuseDaemons(options)
  return asConfigOwner(options, work)
}

async function convert(options: ConvertOptions, directory: string): Promise<Converted> {
  const { paths, disk, random, clock, dryRun, verify, down } = options
  const file = path.join(directory, path.basename(paths.configFile))
  await checkPlace(options, directory)
  const text = (await disk.read(file))?.toString('utf8')
  if (text === undefined) throw missing(directory, file)
  if (options.lists !== undefined) await checkLists(disk, options.lists)
  const raw = rawFrom(text, file)
  const version = versionIn(raw, file)
  const { to, notices } = down ? convertDown(raw, version) : convertUp(raw, version, random)
  const input = !down && version < Math.min(...CONFIG_VERSIONS_SUPPORTED) ? await keepPassword(options, raw) : []
  const names = { from: nameOf(version), to: nameOf(to), notices: [...notices, ...input] }
  if (to === version) return { ...names, problems: [], backup: undefined }
  const { config, notices: filled } = loadConfig(JSON.stringify(raw), random)
  const list = down ? undefined : await missingList(options, config)
  const reported =
    list === undefined ? [] : [`${list.place} is not there, and gets these lines: ${list.lines.join(', ')}`]
  const done = {
    ...names,
    notices: [...names.notices, ...filled, ...reported],
    problems: verify ? verifyConfig(config) : [],
  }
  if (dryRun) return { ...done, backup: undefined }
  const backup = `${file}.backup-${seconds(clock)}`
  await disk.write(backup, text, { mode: MODE.secureFile })
  if (list !== undefined) await writeList(disk, list)
  // It belongs to the file as it was.
  await disk.remove(path.join(directory, path.basename(paths.journalFile)), { durable: true })
  await disk.write(file, encodeConfig(config), { mode: MODE.config })
  return { ...done, backup }
}

/**
 * Once there was one password for all screens, in this file. Hypervisors with screens that name no file of their own keep it: their screens
 * must not be open to everybody after the change.
 */
async function keepPassword(options: ConvertOptions, raw: Raw): Promise<string[]> {
  const file = confFile(options, PATH.VNC_PASSWORD_FILE)
  if (file === undefined || (await options.disk.read(file)) === undefined) return []
  const { enabled_hypervisors: enabled, hvparams } = objectAt(raw, 'cluster', 'the configuration')
  if (!Array.isArray(enabled) || !isObject(hvparams)) return []
  const names = HYPERVISORS.filter((name) => enabled.includes(name) && HV_PARAMS[name][VNC_PASSWORD] !== undefined)
  return names.flatMap((name) => {
    const params = isObject(hvparams[name]) ? hvparams[name] : {}
    if (params[VNC_PASSWORD]) return []
    hvparams[name] = { ...params, [VNC_PASSWORD]: PATH.VNC_PASSWORD_FILE }
    return [
      `guests of ${name} get the password of ${PATH.VNC_PASSWORD_FILE} for their screens when they start next: ` +
        `gnt-cluster modify -H ${name}:${VNC_PASSWORD}= leaves them without one`,
    ]
  })
}

const VNC_PASSWORD = 'vnc_password_file'

interface List {
  readonly file: string
  /** How people know it. */
  readonly place: string
  readonly lines: readonly string[]
}

/** Which directories may hold disks was for the configuration alone to say before Ganeti 2.7. A list that is there is the administrator's. */
async function missingList(options: ConvertOptions, { cluster }: ConfigData): Promise<List | undefined> {
  const { disk, lists } = options
  const own = PATH.FILE_STORAGE_PATHS_FILE
  const file = confFile(options, own)
  if (file === undefined || (await disk.read(file)) !== undefined) return undefined
  const named = [cluster.file_storage_dir, cluster.shared_file_storage_dir].filter((one) => one !== '')
  return named.length === 0 ? undefined : { file, place: lists === undefined ? own : file, lines: [...new Set(named)] }
}

/** Undefined for the configuration of another machine, whose other files are not here. */
function confFile({ paths, directory, lists }: ConvertOptions, own: string): string | undefined {
  if (directory !== undefined && lists === undefined) return undefined
  return lists === undefined ? paths.local(own) : path.join(lists, path.basename(own))
}

async function writeList(disk: Disk, { file, lines }: List): Promise<void> {
  await disk.makeDirectory(path.dirname(file), 0o755)
  await disk.write(file, lines.map((line) => `${line}\n`).join(''), { mode: MODE.secureFile })
}

async function checkLists(disk: Disk, directory: string): Promise<void> {
  try {
    await disk.room(directory)
    await disk.list(directory)
  } catch (error) {
    throw new OpPrereqError(
      `--confdir is the directory of file-storage-paths, and ${directory} is not one: ${errorText(error)}`,
      ECODE.NOENT,
    )
  }
}

async function refuseDaemons({ paths }: ConvertOptions): Promise<void> {
  const owners = [['wconfd', 'wconfd'], ['follow', 'noded']] as const // prettier-ignore
  for (const [socket, daemon] of owners)
    if (await isServed(paths.socket(socket)))
      throw refusal(`${daemon} is running, and has the configuration in memory: stop the daemons of this node first`)
}

async function checkPlace(options: ConvertOptions, directory: string): Promise<void> {
  const { paths, disk, ignoreHostname } = options
  const read = async (name: string) => (await disk.read(path.join(directory, name)))?.toString('utf8')
  if ((await read('server.pem')) === undefined) throw missing(directory, path.join(directory, 'server.pem'))
  const master = (await read('ssconf_master_node'))?.trim() ?? ''
  if (master !== paths.hostname && !ignoreHostname)
    throw refusal(
      `The master is ${master || 'not known'}, and this is ${paths.hostname}: run this there, or give --ignore-hostname`,
    )
  const journal = await read(path.basename(paths.journalFile))
  if (journal !== undefined && journal.split('\n').filter((line) => line !== '').length > 1)
    throw refusal(
      `${directory}/${path.basename(paths.journalFile)} has changes that the configuration lacks: run "gantryd fold" first`,
    )
}

function convertUp(raw: Raw, version: number, random: Random): { to: number; notices: string[] } {
  if (version === CONFIG_VERSION) return { to: version, notices: [] }
  if (!isUpgradable(version))
    throw refusal(
      `The configuration is of version ${nameOf(version)}, and those of 2.7 to 2.16, 3.0 and 3.1 are known here. ` +
        'An older one is brought to 2.16 by that version of Ganeti',
    )
  return { to: CONFIG_VERSION, notices: upgradeConfig(raw, random) }
}

function convertDown(raw: Raw, version: number): { to: number; notices: string[] } {
  const lowest = Math.min(...CONFIG_VERSIONS_SUPPORTED)
  if (version === lowest) return { to: version, notices: [] }
  const to = downgradable(version)
  if (to === undefined)
    throw refusal(`Only a configuration of 3.1 can be downgraded, and this one is of version ${nameOf(version)}`)
  downgradeConfig(raw)
  return { to, notices: [] }
}

function rawFrom(text: string, file: string): Raw {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (error) {
    throw new ConfigurationError(`${file} is not JSON (${errorText(error)}): ${RESTORE_IT}`)
  }
  throw new ConfigurationError(`${file} does not hold a JSON object`)
}

function versionIn(raw: Raw, file: string): number {
  const { version } = raw
  if (typeof version === 'number') return version
  throw new ConfigurationError(`${file} does not say of which version it is`)
}

const nameOf = (version: number): string => `${Math.floor(version / 1e6)}.${Math.floor(version / 1e4) % 100}`

const refusal = (text: string): OpPrereqError => new OpPrereqError(text, ECODE.STATE)

const missing = (directory: string, file: string): OpPrereqError =>
  new OpPrereqError(
    `${directory} is not the directory of a cluster's configuration: there is no ${path.basename(file)}`,
    ECODE.NOENT,
  )
