// Answers `cluster verify`'s checks on a node: one function per check of the spec ("node_verify_checks"). A check that
// fails returns its error as a text, so that one broken part of a node does not hide the others' state.
import { accessible, constants, type Files } from '../lib/files'
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { isMissing } from '../lib/disk'
import { servesTcp } from '../lib/net/resolve'
import { certificateDigest, certificateEnd_ms } from '../lib/tls'
import { timestamp } from '../lib/clock'
import { PORT } from '../model/constants/daemons'
import { RELEASE_VERSION, protocolOf } from '../model/constants/versions'
import { loopbackOf } from '../model/ip'
import type { HvParams } from '../rpc/node/dicts'
import { isObject } from '../lib/shapes/shape'
import { messageOf } from '../rpc/node/protocol'
import type { NodeContext } from './context'
import { isVirtualNode, missingBridges } from './network/addresses'
import { diagnoseAll } from './os-definition'
import { clutterProblems, setupProblems as sshSetupProblems, sshProblems } from './ssh/check'
import { badAllowedPaths, fileStorageProblem } from './storage/allowed-paths'
import { mirrorReportsOf } from './storage/mirror-reports'
import { glusterProblem } from './storage/gluster/volume'
import { misplacedFiles } from './owners'
import { missingHere } from './storage/programs'
import { type VolumeReports, type VolumeStates, reportsOf, volumeStates } from './storage/volume-reports'
import { VERIFY_PING_S } from '../model/limits/node'

export interface VerifyRequest {
  readonly checks: Readonly<Record<string, unknown>>
  readonly clusterName: string
  readonly hvparams: Readonly<Record<string, HvParams>>
}

/** Undefined omits the check from the answer: there is nothing to complain about. */
type Check = (context: NodeContext, input: unknown, request: VerifyRequest) => unknown

const DAY_MS = 86_400_000
const CERTIFICATE_WARNING_DAYS = 30
const CERTIFICATE_ERROR_DAYS = 7

export async function verifyNode(context: NodeContext, request: VerifyRequest): Promise<Record<string, unknown>> {
  const hostsInstances = !strings(request.checks['nonvmnodes']).includes(context.hostname)
  const desired = Object.entries(request.checks).filter(([name]) => hostsInstances || !INSTANCE_CHECKS.has(name))
  const answers = await Promise.all(
    desired.map(async ([name, input]) => [name, await run(context, name, input, request)] as const),
  )
  return Object.fromEntries(answers.filter(([, answer]) => answer !== undefined))
}

async function run(context: NodeContext, name: string, input: unknown, request: VerifyRequest): Promise<unknown> {
  const check = Object.hasOwn(checks, name) ? checks[name] : undefined
  if (check === undefined) return undefined
  try {
    return await check(context, input, request)
  } catch (error) {
    context.log.warn({ check: name, error: messageOf(error) }, 'a check of cluster verify could not be made')
    return messageOf(error)
  }
}

/** Omitted on nodes that cannot host instances. */
const INSTANCE_CHECKS = new Set([
  'hvparms',
  'hypervisor',
  'gantry-old-machines',
  'instancelist',
  'oslist',
  'bridges',
  'lvlist',
  'vglist',
  'pvlist',
  'exclusive-pvs',
  'drbd-helper',
  'drbd-list',
  'drbd-version',
])

const checks: Readonly<Record<string, Check>> = {
  'allowed-file-storage-paths': (context, input) => (input === context.hostname ? badAllowedPaths(context) : undefined),
  bridges: (context, input) => missingBridges(context, strings(input)),
  'client-cert': (context) => clientCertificate(context),
  'drbd-helper': (context) => drbdHelper(context),
  'drbd-list': (context) => mirrorReportsOf(context).minors(),
  'drbd-version': (context) => mirrorReportsOf(context).version(),
  'exclusive-pvs': (context) => sharedPhysicalVolumes(reportsOf(context)),
  filelist: (context, input) => fingerprints(context, strings(input)),
  'file-storage-path': (context, input) => fileStorageProblem(context, String(input)),
  'shared-file-storage-path': (context, input) => fileStorageProblem(context, String(input)),
  'gluster-storage-path': (context, input) => glusterProblem(context, String(input)),
  'gantry-owners': (context) => misplacedFiles(context),
  'gantry-set-aside': (context) => filesSetAside(context),
  'gantry-release': ({ release }) => release,
  'gantry-missing-programs': (context, input) => missingHere(context, strings(input)),
  'gantry-old-machines': async (context, input) => {
    const all = strings(input).map(async (name) => (await context.hypervisor(name).oldMachines?.()) ?? [])
    return (await Promise.all(all)).flat()
  },
  hvinfo: (context, input) => context.hypervisor(String(Array.isArray(input) ? input[0] : input)).nodeInfo(),
  hvparms: (context, input) => parameterProblems(context, input),
  hypervisor: (context, input, { hvparams }) => hypervisorProblems(context, strings(input), hvparams),
  instancelist: (context, input) => instances(context, strings(input)),
  lvlist: (context, input) => allVolumes(reportsOf(context), String(input)),
  'master-ip': (context, input) => masterAnswers(context, input),
  nodelist: (context, input, { clusterName }) => sshProblems(context, input, clusterName),
  'node-net-test': (context, input) => unreachableNodes(context, input),
  nodesetup: ({ files }) => setupProblems(files),
  'ssh-clutter': (context) => clutterProblems(context),
  'ssh-setup': (context, input) => sshSetupProblems(context, input),
  'oob-paths': (context, input) => Promise.all(strings(input).map((file) => oobProblem(context, file))),
  oslist: (context) => diagnoseAll(context),
  pvlist: async (context, input) =>
    (await reportsOf(context).physical())
      .filter(({ vg }) => strings(input).includes(vg))
      .map(({ name, vg, size_mib, free_mib, attributes }) => {
        return { name, vg_name: vg, size: size_mib, free: free_mib, attributes }
      }),
  time: (context) => timestamp(context.clock),
  'user-scripts': async (context, input) => {
    const usable = await Promise.all(strings(input).map((file) => isExecutable(context, context.paths.fromWire(file))))
    return strings(input).filter((_, index) => !usable[index])
  },
  version: ({ ssconf }) => [protocolOf(ssconf.value('release_version')), RELEASE_VERSION],
  vglist: async (context) =>
    Object.fromEntries((await reportsOf(context).groups()).map((group) => [group.name, group.size_mib])),
}

/** Files that could not be used, and wait for a person. */
async function filesSetAside({ disk, paths }: NodeContext): Promise<string[]> {
  const names = await disk.list(paths.dataDir)
  return names.filter((name) => /\.rejected-\d+$/.test(name)).map((name) => paths.virtual(`${paths.dataDir}/${name}`))
}

async function clientCertificate(context: NodeContext): Promise<[string | null, string]> {
  const pem = await context.disk.read(context.paths.clientCert)
  if (pem === undefined)
    return ['ERROR', `The client certificate ${context.paths.virtual(context.paths.clientCert)} is missing`]
  const days = Math.floor((certificateEnd_ms(pem) - context.clock.now_ms()) / DAY_MS)
  if (days < CERTIFICATE_ERROR_DAYS) return ['ERROR', `The client certificate ends in ${days} days`]
  if (days < CERTIFICATE_WARNING_DAYS) return ['WARNING', `The client certificate ends in ${days} days`]
  return [null, certificateDigest(pem)]
}

/** The program that the kernel calls when it loses data; Ganeti wants the same on all nodes. */
async function drbdHelper(context: NodeContext): Promise<[boolean, string]> {
  try {
    return [true, await mirrorReportsOf(context).helper()]
  } catch (error) {
    return [false, messageOf(error)]
  }
}

/** SHA-1 of each existing file, by the requested path. */
async function fingerprints(context: NodeContext, files: readonly string[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const file of files) {
    const local = context.paths.fromWire(file)
    try {
      found[file] = createHash('sha1')
        .update(await context.files.readFile(local))
        .digest('hex')
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
  return found
}

async function hypervisorProblems(
  context: NodeContext,
  names: readonly string[],
  hvparams: VerifyRequest['hvparams'],
): Promise<Record<string, string | null>> {
  const problem = async (name: string): Promise<string | null> => {
    try {
      return (await context.hypervisor(name).verify(hvparams[name] ?? {})) ?? null
    } catch (error) {
      return messageOf(error)
    }
  }
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await problem(name)] as const)))
}

async function parameterProblems(context: NodeContext, input: unknown): Promise<[string, string, string][]> {
  const problems: [string, string, string][] = []
  for (const [source, name, params] of lists(input)) {
    try {
      await context.hypervisor(String(name)).validateParameters(isObject(params) ? params : {})
    } catch (error) {
      problems.push([String(source), String(name), messageOf(error)])
    }
  }
  return problems
}

async function instances(context: NodeContext, hypervisors: readonly string[]): Promise<string[]> {
  const found = await Promise.all(hypervisors.map((name) => context.hypervisor(name).list()))
  return [...new Set(found.flat())]
}

/** `[master name, master address, candidates]`; only candidates check. */
async function masterAnswers(context: NodeContext, input: unknown): Promise<boolean> {
  const [master, address, candidates] = Array.isArray(input) ? (input as unknown[]) : []
  if (Array.isArray(candidates) && !candidates.includes(context.hostname)) return true
  const loopback = loopbackOf(isIPv6(String(address)) ? 6 : 4)
  const source = master === context.hostname && !isVirtualNode(context.paths) ? loopback : undefined
  // A virtual master's node daemon serves only the node's own address, so RAPI's counts too.
  const ports = [PORT.noded, ...(isVirtualNode(context.paths) ? [PORT.rapi] : [])]
  for (const port of ports) if (await servesTcp(String(address), port, VERIFY_PING_S, source)) return true
  return false
}

/** `[[[name, primary address, secondary address]], candidates]`. */
async function unreachableNodes(context: NodeContext, input: unknown): Promise<Record<string, string>> {
  const [nodes, candidates] = Array.isArray(input) ? (input as unknown[]) : []
  if (Array.isArray(candidates) && !candidates.includes(context.hostname)) return {}
  const rows = lists(nodes).map((row) => row.map(String))
  const own = rows.find(([name]) => name === context.hostname)
  if (own === undefined) return { [context.hostname]: "this node's own addresses are not in the list" }
  const problems: Record<string, string> = {}
  await Promise.all(
    rows.map(async ([name = '', primary = '', secondary = '']) => {
      const failed: string[] = []
      if (!(await servesTcp(primary, PORT.noded, VERIFY_PING_S, own[1]))) failed.push('primary')
      if (secondary !== primary && !(await servesTcp(secondary, PORT.noded, VERIFY_PING_S, own[2])))
        failed.push('secondary')
      if (failed.length > 0) problems[name] = `failure using the ${failed.join(' and ')} interface(s)`
    }),
  )
  return problems
}

async function setupProblems(files: Files): Promise<string[]> {
  const problems: string[] = []
  for (const [mount, file] of [
    ['/sys', '/sys/class/net'],
    ['/proc', '/proc/sys/kernel/random/boot_id'],
  ] as const) {
    if (!(await accessible(files, file))) problems.push(`${mount} is not mounted (no ${file})`)
  }
  return problems
}

async function oobProblem(context: NodeContext, file: string): Promise<string | null> {
  const local = context.paths.fromWire(file)
  try {
    if (!(await context.files.stat(local)).isFile()) return `'${file}' is not a file`
  } catch (error) {
    return isMissing(error) ? `'${file}' does not exist` : messageOf(error)
  }
  return (await isExecutable(context, local)) ? null : `'${file}' is not executable`
}

/** Physical volumes with more than one logical volume. */
async function sharedPhysicalVolumes(reports: VolumeReports): Promise<[string, string[]][]> {
  const users = new Map<string, Set<string>>()
  for (const { vg, name, devices } of await reports.logical()) {
    for (const device of devices) {
      const volume = device.replace(/\(.*$/, '')
      users.set(volume, (users.get(volume) ?? new Set()).add(`${vg}/${name}`))
    }
  }
  return [...users].filter(([, lvs]) => lvs.size > 1).map(([pv, lvs]) => [pv, [...lvs].sort()])
}

const isExecutable = ({ files }: NodeContext, file: string) => accessible(files, file, constants.X_OK)

const strings = (input: unknown): string[] =>
  Array.isArray(input) ? input.filter((item) => typeof item === 'string') : []
const lists = (input: unknown): unknown[][] =>
  Array.isArray(input) ? input.filter((item): item is unknown[] => Array.isArray(item)) : []

/** Disks may be in other groups than the cluster's, too. Where that one is missing, the answer is why. */
async function allVolumes(reports: VolumeReports, group: string): Promise<VolumeStates> {
  const isThere = (await reports.groups()).some(({ name }) => name === group)
  return volumeStates(reports, isThere ? [] : [group])
}
