// Parameters that are single values, or lists with additions and removals.
import { DATA_COLLECTORS, DATA_COLLECTOR_INTERVAL } from '../../../model/constants/collectors'
import type { Cluster } from '../../../model/config'
import { IALLOCATOR_SEARCH_PATH } from '../../../model/constants/paths'
import { BUILTIN_IALLOCATOR, UID_POOL_MAX, VALUE } from '../../../model/constants/words'
import { ECODE, OpPrereqError, QueryFilterParseError, ProgrammerError } from '../../../model/errors'
import { bitsOf, versionOf } from '../../../model/ip'
import { compileRegex } from '../../../query/regex'
import { macPrefix } from '../../network/pool'
import type { OpClusterSetParams } from '../../../opcodes/cluster'
import type { JobEnvironment } from '../../environment'
import type { Op } from '../../logical-unit'

export type SetParams = Op<typeof OpClusterSetParams>
/** Fields of the cluster; null removes an optional one. */
export type Fields = { readonly [K in keyof Cluster]?: Cluster[K] | null }

type Range = readonly [low: number, high: number]

export const invalid = (text: string): OpPrereqError => new OpPrereqError(text, ECODE.INVAL)

/** An object without its undefined values. */
export function withoutUnset<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(object).filter(([, value]) => value !== undefined)
  // The filter above removes exactly the values that the type excludes.
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> }
}

export function plainFields(cluster: Cluster, op: SetParams): Fields {
  const { install_image, zeroing_image, master_netmask, master_netdev } = op
  if (install_image !== undefined) checkImage('Install', install_image)
  if (zeroing_image !== undefined) checkImage('Zeroing', zeroing_image)
  if (master_netmask !== undefined) checkNetmask(cluster, master_netmask)
  if (op.compression_tools !== undefined) checkCompressionTools(op.compression_tools)
  if (op.reserved_lvs !== undefined) checkPatterns(op.reserved_lvs)
  return withoutUnset({
    candidate_pool_size: op.candidate_pool_size,
    max_running_jobs: op.max_running_jobs,
    max_tracked_jobs: op.max_tracked_jobs,
    maintain_node_health: op.maintain_node_health,
    modify_etc_hosts: op.modify_etc_hosts,
    prealloc_wipe_disks: op.prealloc_wipe_disks,
    default_iallocator: op.default_iallocator,
    default_iallocator_params: op.default_iallocator_params,
    reserved_lvs: op.reserved_lvs,
    use_external_mip_script: op.use_external_mip_script,
    enabled_user_shutdown: op.enabled_user_shutdown,
    mac_prefix: op.mac_prefix === undefined ? undefined : macPrefix(op.mac_prefix),
    master_netdev: master_netdev === '' ? undefined : master_netdev,
    master_netmask,
    install_image,
    zeroing_image,
    compression_tools: op.compression_tools,
    instance_communication_network: op.instance_communication_network,
  })
}

/** Calls `tell` for existing entries to add, and for missing entries to remove. */
export function listFields(cluster: Cluster, op: SetParams, tell: (text: string) => void = () => undefined): Fields {
  return withoutUnset({
    uid_pool: uidPool(cluster, op),
    hidden_os: op.hidden_os && changedNames(cluster.hidden_os, op.hidden_os, 'hidden', tell),
    blacklisted_os: op.blacklisted_os && changedNames(cluster.blacklisted_os, op.blacklisted_os, 'blacklisted', tell),
    data_collectors: dataCollectors(cluster, op),
  })
}

/** Checks that the allocator is built in, or a file on the master. */
export async function checkAllocator(
  { masterFile }: Pick<JobEnvironment, 'masterFile'>,
  name: string | undefined,
): Promise<void> {
  if (name === undefined || name === '' || name === BUILTIN_IALLOCATOR) return
  if (/^[\w.-]+$/.test(name))
    for (const directory of IALLOCATOR_SEARCH_PATH)
      if ((await masterFile?.(`${directory}/${name}`)) !== undefined) return
  throw invalid(`Invalid default iallocator script '${name}' specified`)
}

function changedNames(
  old: readonly string[],
  steps: readonly (readonly [step: string, name: string])[],
  kind: string,
  tell: (text: string) => void,
): string[] {
  const names = [...old]
  for (const [step, name] of steps) {
    if (step !== 'add' && step !== 'remove') throw new ProgrammerError(`Invalid modification '${step}'`)
    const place = names.indexOf(name)
    if (step === 'add' && place >= 0) tell(`OS ${name} already in ${kind} OS list, ignoring`)
    else if (step === 'add') names.push(name)
    else if (place < 0) tell(`OS ${name} not found in ${kind} OS list, ignoring`)
    else names.splice(place, 1)
  }
  return names
}

function uidPool(cluster: Cluster, op: SetParams): readonly Range[] | undefined {
  const { uid_pool, add_uids, remove_uids } = op
  if (uid_pool === undefined && add_uids === undefined && remove_uids === undefined) return undefined
  for (const range of [...(uid_pool ?? []), ...(add_uids ?? []), ...(remove_uids ?? [])]) checkRange(range)
  let pool: readonly Range[] = cluster.uid_pool
  for (const range of add_uids ?? []) if (!pool.some((other) => same(other, range))) pool = [...pool, range]
  for (const range of remove_uids ?? []) {
    if (!pool.some((other) => same(other, range)))
      throw invalid(`User-id range to be removed is not found in the current user-id pool: [${range.join(', ')}]`)
    pool = pool.filter((other) => !same(other, range))
  }
  return [...(uid_pool ?? pool)].sort((a, b) => a[0] - b[0])
}

function checkRange(range: Range): void {
  const [low, high] = range
  if (low > high)
    throw invalid(`Lower user-id range boundary value (${low}) is larger than higher boundary value (${high})`)
  if (low < 0) throw invalid(`Lower user-id range boundary value (${low}) is smaller than UIDPOOL_UID_MIN (0).`)
  if (high > UID_POOL_MAX)
    throw invalid(`Higher user-id boundary value (${high}) is larger than UIDPOOL_UID_MAX (${UID_POOL_MAX}).`)
}

const same = (a: Range, b: Range): boolean => a[0] === b[0] && a[1] === b[1]

function dataCollectors(cluster: Cluster, op: SetParams): Cluster['data_collectors'] | undefined {
  const { enabled_data_collectors: active, data_collector_interval: interval } = op
  if (active === undefined && interval === undefined) return undefined
  const known = { ...COLLECTOR_DEFAULTS, ...cluster.data_collectors }
  const named = Object.keys({ ...active, ...interval })
  const unknown = named.filter((name) => !Object.hasOwn(known, name))
  if (unknown.length > 0)
    throw invalid(`Unknown data collector(s) ${unknown.join(', ')}; known are ${Object.keys(known).join(', ')}`)
  const wrong = Object.entries(interval ?? {}).filter(([, micros]) => micros <= 0)
  if (wrong.length > 0)
    throw invalid(`The interval of a data collector must be positive: ${wrong.map(([name]) => name).join(', ')}`)
  // A cluster made by Ganeti lists only Ganeti's collectors. Ours are added when somebody changes them.
  const kept = Object.entries(known).filter(
    ([name]) => named.includes(name) || Object.hasOwn(cluster.data_collectors, name),
  )
  return Object.fromEntries(
    kept.map(([name, old]) => [
      name,
      { active: active?.[name] ?? old.active, interval: interval?.[name] ?? old.interval },
    ]),
  )
}

const COLLECTOR_DEFAULTS: Cluster['data_collectors'] = Object.fromEntries(
  DATA_COLLECTORS.map((name) => [name, { active: true, interval: DATA_COLLECTOR_INTERVAL }]),
)

function checkNetmask(cluster: Cluster, netmask: number): void {
  const bits = bitsOf(versionOf(cluster.primary_ip_family))
  if (netmask < 1 || netmask > bits) throw invalid(`CIDR netmask (${netmask}) not valid`)
}

function checkImage(kind: 'Install' | 'Zeroing', image: string): void {
  if (image !== '' && !/^(\/|(https?|ftp):\/\/)\S+$/.test(image))
    throw invalid(`${kind} image must be an absolute path or a URL`)
}

const GZIP = 'gzip'

function checkCompressionTools(tools: readonly string[]): void {
  const illegal = tools.filter((tool) => !/^[-_a-zA-Z0-9]+$/.test(tool))
  if (illegal.length > 0)
    throw invalid(
      `The tools '${illegal.join(', ')}' contain illegal characters: only alphanumeric values, dashes, and underscores are allowed`,
    )
  if (!tools.includes(GZIP))
    throw invalid(`For compatibility reasons, the ${GZIP} utility must be present among the compression tools`)
  if (tools.includes(VALUE.none))
    throw invalid(`${VALUE.none} is a reserved value used for no compression, and cannot be used as the name of a tool`)
}

function checkPatterns(patterns: readonly string[]): void {
  for (const pattern of patterns) {
    try {
      compileRegex(`^(?:${pattern})$`)
    } catch (error) {
      if (!(error instanceof QueryFilterParseError)) throw error
      throw invalid(`'${pattern}' is not a pattern for the names of reserved volumes: ${error.message}`)
    }
  }
}
