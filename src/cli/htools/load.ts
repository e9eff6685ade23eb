// Reads and builds the cluster that the options name, with the programs' errors.
import { instancesNow } from '../../allocation/model/changes'
import {
  BadClusterData,
  type ClusterData,
  KVM_NODE_MEMORY_MIB,
  type Policy,
  type Spec,
} from '../../allocation/model/cluster-data'
import { type ClusterModel, Col, type Settings, buildModel } from '../../allocation/model/cluster-model'
import { readNumber, showDouble } from '../../allocation/model/numbers'
import { type LiveRecords, liveCluster } from '../../allocation/sources/live-cluster'
import { parseRequest } from '../../allocation/sources/request-json'
import { simulatedCluster } from '../../allocation/sources/simulation'
import { clusterText, parseClusterText } from '../../allocation/sources/text-format'
import { type Parsed, has, listOf, numberOf, textOf, verbosity } from './options'
import { readFile, writeFile } from './files'
import { monitored } from './monitoring'
import { recordsFromLuxi, recordsFromRapi } from './sources'
import { Stop, type Context, failure } from './context'
import type { DiskTemplate } from '../../model/templates'

/**
 * Loads the cluster from the only source that the options name. `first` may print before the nodes' names are looked
 * up.
 */
export async function loadModel(
  options: Parsed,
  surroundings: Context,
  first: (data: ClusterData) => void = () => undefined,
): Promise<ClusterModel> {
  const input = ['master', 'luxi', 'text-data'].filter((source) => has(options, source))
  if (input.length > 1) throw failure('Only one of the rapi, luxi, and data files options should be given.')
  const settings = settingsOf(options, surroundings)
  try {
    const data = await readCluster(options, surroundings)
    const model = await monitored(buildModel(data, { ...settings, offline: [] }), options, surroundings)
    if (verbosity(options) > 0) warn(model, surroundings)
    first(data)
    const offline = options.given.get('offline') ?? []
    return offline.length === 0 ? model : buildModel(data, { ...model.settings, offline })
  } catch (error) {
    if (!(error instanceof BadClusterData)) throw error
    if (error.message.startsWith('wrong node')) throw failure(`${error.message}\n`)
    throw failure(`failed to load data, aborting: ${error.message}`)
  }
}

/** Loads the cluster from the master's socket, even if no option names it. */
export async function loadLocal(options: Parsed, surroundings: Context): Promise<ClusterModel> {
  try {
    const records = await recordsOf(surroundings, undefined, textOf(options, 'luxi'))
    const model = buildModel(liveCluster(records, nodeMemoryOf(options)))
    warn(model, surroundings)
    return model
  } catch (error) {
    if (!(error instanceof BadClusterData)) throw error
    throw failure(`failed to load data, aborting: ${error.message}`)
  }
}

async function readCluster(options: Parsed, surroundings: Context): Promise<ClusterData> {
  const [master, luxi] = [textOf(options, 'master') ?? '', textOf(options, 'luxi')]
  if (master !== '' || luxi !== undefined) {
    return liveCluster(await recordsOf(surroundings, master === '' ? undefined : master, luxi), nodeMemoryOf(options))
  }
  const simulated = options.given.get('simulate')
  // As in Ganeti, the last named group is the first.
  if (simulated !== undefined) return simulatedCluster(simulated.toReversed())
  const file = textOf(options, 'text-data')
  if (file !== undefined) return parseClusterText(readFile(surroundings, file, unreadable))
  const request = textOf(options, 'ialloc-src')
  if (request !== undefined)
    return parseRequest(readFile(surroundings, request, unreadable), nodeMemoryOf(options)).data
  throw new BadClusterData('No backend selected! Exiting.')
}

export async function recordsOf(
  surroundings: Context,
  rapi: string | undefined,
  luxi: string | undefined,
): Promise<LiveRecords> {
  try {
    return rapi === undefined
      ? await recordsFromLuxi(surroundings.connect(luxi))
      : await recordsFromRapi(surroundings, rapi)
  } catch (error) {
    throw error instanceof BadClusterData
      ? error
      : new BadClusterData(error instanceof Error ? error.message : 'no answer')
  }
}

function settingsOf(options: Parsed, surroundings: Context): Settings {
  return {
    exclusionTags: listOf(options, 'exclusion-tags') ?? [],
    selected: listOf(options, 'select-instances') ?? [],
    excluded: listOf(options, 'exclude-instances') ?? [],
    ignoreUtilisation: has(options, 'ignore-dynu'),
    maxCpu: numberOf(options, 'max-cpu'),
    minDisk: numberOf(options, 'min-disk') ?? 0,
    utilisation: utilisationOf(options, surroundings),
  }
}

/** MiB; 0 uses each node's report. */
export const nodeMemoryOf = (options: Parsed): number =>
  numberOf(options, 'static-kvm-node-memory') ?? KVM_NODE_MEMORY_MIB

export function warn(model: ClusterModel, surroundings: Context): void {
  if (model.warnings.length === 0) return
  const lines = model.warnings.map((line) => `  - ${line}\n`).join('')
  surroundings.err(`Warning: cluster has inconsistent data:\n${lines}\n`)
}

/** The index of a group by name or uuid; -1 if there is none. */
export const findGroup = ({ groups }: ClusterData, desired: string): number =>
  groups.findIndex(({ name, uuid }) => name === desired || uuid === desired)

export function saveData(
  options: Parsed,
  surroundings: Context,
  suffix: string,
  when: string,
  data: ClusterData,
): void {
  const file = textOf(options, 'save')
  if (file === undefined) return
  writeFile(surroundings, options.program, `${file}.${suffix}`, clusterText(data))
  surroundings.err(`The cluster state ${when} has been written to file '${file}.${suffix}'\n`)
}

/** The whole cluster now; nodes' memory reports stay unchanged. */
export function savedData(model: ClusterModel): ClusterData {
  const nodes = model.nodes.map(({ data, offline }, at) => {
    const get = (col: Col) => model.rows[at * Col.Width + col] ?? 0
    return { ...data, offline, freeDisk: get(Col.FreeDisk), freeSpindles: get(Col.FreeSpindles) }
  })
  return { ...model.data, nodes, instances: instancesNow(model) }
}

export const policyText = (policy: Policy): string => {
  const pairs = policy.minMax.map(
    ({ min, max }) => `MinMaxISpecs {minMaxISpecsMinSpec = ${specText(min)}, minMaxISpecsMaxSpec = ${specText(max)}}`,
  )
  return (
    `IPolicy {iPolicyMinMaxISpecs = [${pairs.join(',')}], iPolicyStdSpec = ${specText(policy.standard)}, ` +
    `iPolicyDiskTemplates = [${policy.templates.map(haskellName).join(',')}], ` +
    `iPolicyVcpuRatio = ${showDouble(policy.vcpuRatio)}, iPolicySpindleRatio = ${showDouble(policy.spindleRatio)}}`
  )
}

const specText = (spec: Spec): string =>
  `ISpec {iSpecMemorySize = ${spec.memory}, iSpecCpuCount = ${spec.cpus}, iSpecDiskSize = ${spec.disk}, ` +
  `iSpecDiskCount = ${spec.disks}, iSpecNicCount = ${spec.nics}, iSpecSpindleUse = ${spec.spindles}}`

/** Haskell's names of templates, if they are not just capitalized. */
const HASKELL_NAMES: Partial<Record<DiskTemplate, string>> = {
  sharedfile: 'SharedFile',
  blockdev: 'Block',
  drbd: 'Drbd8',
}

const haskellName = (template: DiskTemplate): string =>
  `DT${HASKELL_NAMES[template] ?? template.charAt(0).toUpperCase() + template.slice(1)}`

const unreadable = (text: string) => new BadClusterData(text)

function utilisationOf(options: Parsed, surroundings: Context): Map<string, readonly number[]> | undefined {
  const file = textOf(options, 'dynu-file')
  if (file === undefined) return undefined
  const text = readFile(surroundings, file, (why) => new Stop(1, '', `${options.program}: ${why}\n`))
  const bad = (why: string) => failure(`can't parse utilisation data: ${why}`)
  const lines = text.split('\n').filter((line, at, all) => line !== '' || at < all.length - 1)
  return new Map(
    lines.map((line) => {
      const [name = '', ...fields] = line.split(' ')
      if (fields.length !== 4) throw bad(`Cannot parse line ${line}`)
      const values = fields.map((field) => {
        const value = readNumber(field, 'any')
        if (typeof value !== 'number') throw bad(`${name}: ${value.error}`)
        return value
      })
      return [name, values]
    }),
  )
}
