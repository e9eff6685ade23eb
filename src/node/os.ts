// Runs OS scripts for instances, in Ganeti's environment, each with its own log file.
import { pythonText } from '../lib/text/python-text'
import * as path from 'node:path'
import { fileTime } from '../lib/clock'
import { HOOKS_PATH_ENV, PATH } from '../model/constants/paths'
import { CLOUD_INIT, cloudInitProblems } from '../model/cloud-init/parameters'
import { OS_LOGS_MAX, OS_LOG_BYTES_MAX, OS_LOG_LINES_SHOWN, OS_SCRIPT_S, OS_VERIFY_S } from '../model/limits/node'
import { isFileBased } from '../model/templates'
import type { DiskDict, InstanceDict, NicDict } from '../rpc/node/dicts'
import type { NodeContext } from './context'
import { fail } from './failure'
import { type OsDefinition, type OsScript, findOs, splitOsName } from './os-definition'
import { Disks } from './storage/disks'
import { linkDisks } from './storage/links'
import type { Device, StorageContext } from './storage/storage'
import { keepNewest } from './leftovers'

const NIC_BRIDGED = 'bridged'

export type ScriptContext = Pick<NodeContext, keyof StorageContext | 'osSearchPath' | 'machineOsPath'>

/** Installs an instance whose disks exist. */
export async function osCreate(
  context: ScriptContext,
  instance: InstanceDict,
  options: { reinstall: boolean; debug: number },
): Promise<void> {
  const os = await findOs(context, instance.os)
  if (!os.trusted) fail(`OS '${os.name}' installs in a helper machine, which this node does not offer`)
  const env = await instanceEnvironment(context, instance, os, options.debug)
  const extra: Record<string, string> = options.reinstall ? { INSTANCE_REINSTALL: '1' } : {}
  await withFiles(context, instance, (paths) =>
    runLogged(context, os, 'create', instance, 'add', { ...env, ...extra, ...paths }),
  )
}

/** Tells the installed system its new name, which `instance` already has. */
export async function osRename(
  context: ScriptContext,
  instance: InstanceDict,
  oldName: string,
  debug: number,
): Promise<void> {
  const os = await findOs(context, instance.os)
  const env = await instanceEnvironment(context, instance, os, debug)
  await withFiles(context, instance, (paths) =>
    runLogged(context, os, 'rename', instance, 'rename', { ...env, ...paths, OLD_INSTANCE_NAME: oldName }),
  )
}

/** Runs a script with a file or block device for each disk. */
function withFiles(
  context: ScriptContext,
  instance: Pick<InstanceDict, 'disks_info'>,
  work: (paths: Record<string, string>) => Promise<void>,
  paths: Record<string, string> = {},
): Promise<void> {
  const index = Object.keys(paths).length
  const disk = instance.disks_info[index]
  if (disk === undefined) return work(paths)
  const next = (file: string) => withFiles(context, instance, work, { ...paths, [`DISK_${index}_PATH`]: file })
  return new Disks(context).lent(disk, next)
}

export interface OsCheck {
  readonly os: string
  readonly parameters: Readonly<Record<string, string>>
  /** The only existing check is `parameters`. */
  readonly checks: readonly string[]
  /** Accepts a missing or unknown variant. */
  readonly forceVariant: boolean
}

/** Throws if the OS, its variant or its parameters are wrong. */
export async function osValidate(context: ScriptContext, check: OsCheck): Promise<void> {
  const os = await findOs(context, check.os)
  if (!check.forceVariant) checkVariant(os, splitOsName(check.os).variant)
  const unknown = check.checks.filter((name) => name !== 'parameters')
  if (unknown.length > 0) fail(`Unknown OS check: ${unknown.join(', ')}`)
  if (os.api < 20) return
  const known = os.parameters.map(([name]) => name)
  const wrong = Object.keys(check.parameters).filter((name) => !known.includes(name))
  if (wrong.length > 0)
    fail(`Parameters that OS '${os.name}' does not have: ${wrong.join(', ')}; -O NAME=default removes one`)
  if (known.includes(CLOUD_INIT)) await checkCloudInit(os.name, check.parameters)
  const env = coreEnvironment(check.os, os, check.parameters, 0)
  const script = path.join(os.directory, 'verify')
  const { code, output } = await context.run([script, ...check.checks], {
    cwd: os.directory,
    env,
    timeout_s: OS_VERIFY_S,
  })
  if (code !== 0) fail(`The verify script of OS '${os.name}' failed (exit code ${code}): ${lastLines(output)}`)
}

/** cloud-init ignores an unreadable text, and the guest would start without its contents. */
async function checkCloudInit(os: string, parameters: Readonly<Record<string, string>>): Promise<void> {
  const problems = cloudInitProblems(parameters)
  if (problems.length > 0) fail(`OS '${os}': ${problems.join('; ')}`)
  const { user_data: text = '' } = parameters
  if (!text.startsWith('#cloud-config')) return
  const { isMap, parseDocument } = await import('yaml')
  const { contents, errors } = parseDocument(text, { prettyErrors: false })
  const [error] = errors
  const line = text.slice(0, error?.pos[0]).split('\n').length
  if (error) fail(`OS '${os}': OS parameter user_data is no YAML (${error.code} in line ${line})`)
  if (contents !== null && !isMap(contents))
    fail(`OS '${os}': OS parameter user_data must have keys and values below #cloud-config`)
}

function checkVariant(os: OsDefinition, variant: string | undefined): void {
  if (os.variants.length === 0) {
    if (variant !== undefined) fail(`OS '${os.name}' has no variants ('${variant}' was given)`)
    return
  }
  const choices = `one of ${os.variants.join(', ')}`
  if (variant === undefined) fail(`OS '${os.name}' needs a variant, ${choices}: ${os.name}+${os.variants[0]}`)
  if (!os.variants.includes(variant)) fail(`OS '${os.name}' has no variant '${variant}', only ${choices}`)
}

/** The environment of every OS script. */
function coreEnvironment(
  osName: string,
  os: OsDefinition,
  parameters: Readonly<Record<string, string>>,
  debug: number,
): Record<string, string> {
  const variant = os.api < 15 ? '' : (splitOsName(osName).variant ?? os.variants[0] ?? '')
  const values = Object.entries(parameters).map(([name, value]) => [parameterVariable(name), value] as const)
  return {
    OS_API_VERSION: String(os.api),
    OS_NAME: os.name,
    DEBUG_LEVEL: String(debug),
    OS_VARIANT: variant,
    ...Object.fromEntries(values),
    PATH: HOOKS_PATH_ENV,
  }
}

const parameterVariable = (name: string): string => `OSP_${name.toUpperCase().replaceAll('-', '_')}`

/** Additional environment for create, rename, import and export: all about the instance, with its disks opened. */
export async function instanceEnvironment(
  context: ScriptContext,
  instance: InstanceDict,
  os: OsDefinition,
  debug: number,
  use: 'programs' | 'telling' = 'programs',
): Promise<Record<string, string>> {
  const { osparams, osparams_private = {} } = instance
  const all = {
    ...coreEnvironment(instance.os, os, { ...osparams, ...osparams_private }, debug),
    INSTANCE_NAME: instance.name,
    INSTANCE_OS: instance.os,
    INSTANCE_UUID: instance.uuid,
    ...(instance.ctime === undefined ? {} : { INSTANCE_CTIME: String(instance.ctime) }),
    ...(instance.mtime === undefined ? {} : { INSTANCE_MTIME: String(instance.mtime) }),
    INSTANCE_PRIMARY_NODE: instance.primary_node,
    INSTANCE_SECONDARY_NODES: instance.secondary_nodes.join(' '),
    HYPERVISOR: instance.hypervisor,
    INSTANCE_HYPERVISOR: instance.hypervisor,
    DISK_COUNT: String(instance.disks_info.length),
    NIC_COUNT: String(instance.nics.length),
    ...(await diskVariables(context, instance, use)),
    ...nicVariables(instance),
    ...prefixed('INSTANCE_BE_', instance.beparams),
    ...prefixed('INSTANCE_HV_', instance.hvparams),
  }
  return os.api > OLDEST_API ? all : Object.fromEntries(Object.entries(all).filter(([name]) => OF_OLDEST.test(name)))
}

/** Scripts for the oldest interface may have other uses for names that came later. Only the hypervisor's new name is for all. */
const OLDEST_API = 10
const OF_OLDEST =
  /^(PATH|OS_API_VERSION|DEBUG_LEVEL|INSTANCE_(NAME|OS|HYPERVISOR)|HYPERVISOR|DISK_COUNT|NIC_COUNT|DISK_\d+_(PATH|ACCESS|FRONTEND_TYPE|BACKEND_TYPE)|NIC_\d+_(MAC|IP|BRIDGE|FRONTEND_TYPE))$/

async function diskVariables(
  context: ScriptContext,
  instance: InstanceDict,
  use: 'programs' | 'telling',
): Promise<Record<string, string>> {
  const variables: Record<string, string> = {}
  for (const [index, { disk, device }] of (await linkDisks(context, instance, use)).entries()) {
    const frontend = instance.hvparams['disk_type']
    const values: Record<string, string | undefined> = {
      ACCESS: disk.mode ?? 'rw',
      UUID: disk.uuid,
      SIZE: String(disk.size),
      PATH: device.path,
      URI: device.uri,
      NAME: disk.name,
      FRONTEND_TYPE: frontend === undefined ? undefined : String(frontend),
      BACKEND_TYPE: backendType(disk, device),
    }
    addSet(variables, `DISK_${index}_`, values)
  }
  return variables
}

/** Scripts know only the drivers of files. A volume in user space, or an image that the node lends, is a plain file. */
export function backendType({ dev_type, logical_id }: DiskDict, { block }: Pick<Device, 'block'>): string {
  if (block) return 'block'
  const [driver = PLAIN_FILE] = isFileBased(dev_type) ? (logical_id ?? []) : []
  return `file:${String(driver)}`
}

const PLAIN_FILE = 'loop'

function nicVariables(instance: InstanceDict): Record<string, string> {
  const variables: Record<string, string> = {}
  const frontend = instance.hvparams['nic_type']
  for (const [index, nic] of instance.nics.entries()) {
    const { mode, link } = nic.nicparams
    addSet(variables, `NIC_${index}_`, {
      MAC: nic.mac,
      UUID: nic.uuid,
      NAME: nic.name,
      IP: nic.ip,
      MODE: mode,
      LINK: link,
      BRIDGE: mode === NIC_BRIDGED ? link : undefined,
      FRONTEND_TYPE: frontend === undefined ? undefined : String(frontend),
    })
    addSet(variables, `NIC_${index}_NETWORK_`, networkValues(nic))
  }
  return variables
}

function networkValues({ netinfo }: NicDict): Record<string, string | undefined> {
  if (netinfo === undefined) return {}
  return {
    NAME: netinfo.name,
    UUID: netinfo.uuid,
    TAGS: (netinfo.tags ?? []).join(' '),
    SUBNET: netinfo.network,
    GATEWAY: netinfo.gateway,
    SUBNET6: netinfo.network6,
    GATEWAY6: netinfo.gateway6,
    MAC_PREFIX: netinfo.mac_prefix,
  }
}

function addSet(into: Record<string, string>, prefix: string, values: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(values)) if (value !== undefined) into[prefix + name] = value
}

const prefixed = (prefix: string, values: object): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, pythonText(value)]))

async function runLogged(
  context: ScriptContext,
  os: OsDefinition,
  script: OsScript,
  instance: InstanceDict,
  kind: string,
  env: Record<string, string>,
): Promise<void> {
  const { files, run } = context
  const directory = context.paths.local(PATH.LOG_OS_DIR)
  await files.mkdir(directory, { recursive: true, mode: 0o750 })
  const osName = instance.os.replaceAll('/', '_')
  const file = path.join(directory, `${kind}-${osName}-${instance.name}-${fileTime(context.clock)}.log`)
  await keepNewest(files, directory, OS_LOGS_MAX - 1)
  const log = await files.open(file, 'a', 0o640)
  let room = OS_LOG_BYTES_MAX
  const keep = (chunk: string) => {
    files.writeSync(log.fd, chunk.slice(0, Math.max(0, room)))
    room -= chunk.length
  }
  const { code, output } = await run([path.join(os.directory, script)], {
    cwd: os.directory,
    env,
    timeout_s: OS_SCRIPT_S,
    onOutput: keep,
  }).finally(() => log.close())
  if (code === 0) return
  context.log.error({ os: os.name, instance: instance.name, code, file }, `OS script ${script} failed`)
  const displayed = context.paths.virtual(file)
  fail(
    `OS ${script} script failed (exited with exit code ${code}), last lines in the log file (${displayed}):\n${lastLines(output)}`,
  )
}

const lastLines = (output: string): string => output.trimEnd().split('\n').slice(-OS_LOG_LINES_SHOWN).join('\n')
