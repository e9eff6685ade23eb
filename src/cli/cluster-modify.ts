import { OpClusterSetParams } from '../opcodes/cluster'
import { type Call, CommandFailure } from './command'
import { waitForHandedOn } from './instance-move'
import { NOTHING_GIVEN } from './instance-modify'
import type { KeyValues, OptionValues } from './option-values'
import { backendParams, byIdent, guessed, hypervisorParams, nodeParams, numbersByIdent, policy } from './params'
import { opcodeOf } from './submit'

/** Options that the opcode takes as they are. */
const TEXTS = [
  'vg_name',
  'drbd_helper',
  'default_iallocator',
  'mac_prefix',
  'master_netdev',
  'file_storage_dir',
  'shared_file_storage_dir',
  'gluster_storage_dir',
  'install_image',
  'instance_communication_network',
  'zeroing_image',
] as const
const FLAGS = [
  'maintain_node_health',
  'prealloc_wipe_disks',
  'use_external_mip_script',
  'modify_etc_hosts',
  'enabled_user_shutdown',
] as const
const NUMBERS = ['candidate_pool_size', 'max_running_jobs', 'max_tracked_jobs'] as const
const LISTS = ['enabled_hypervisors', 'enabled_disk_templates', 'compression_tools', 'reserved_lvs'] as const

export async function modifyCluster(call: Call): Promise<number> {
  const { options } = call
  const changes = clusterChanges(options)
  if (Object.values(changes).every((value) => value === undefined)) throw new CommandFailure(NOTHING_GIVEN)
  const result = await call.jobs.run(opcodeOf(OpClusterSetParams, { ...changes, force: options.flag('force') }))
  return waitForHandedOn(call, result)
}

/** Parameters of the opcode; undefined are those that were not given. */
export const clusterChanges = (options: OptionValues) => ({ ...simpleChanges(options), ...parameterChanges(options) })

function simpleChanges(options: OptionValues) {
  const all = <N extends string, T>(names: readonly N[], read: (name: N) => T) =>
    // Exactly the names are its keys.
    Object.fromEntries(names.map((name) => [name, read(name)])) as Record<N, T>
  const netmask = options.text('master_netmask')
  return {
    ...all(TEXTS, (name) => options.text(name)),
    ...all(FLAGS, (name) => options.optionalFlag(name)),
    ...all(NUMBERS, (name) => options.number(name)),
    ...all(LISTS, (name) => commaList(options.text(name))),
    master_netmask: netmask === undefined ? undefined : wholeNumber(netmask, '--master-netmask'),
    uid_pool: uidRanges(options.text('uid_pool')),
    add_uids: uidRanges(options.text('add_uids')),
    remove_uids: uidRanges(options.text('remove_uids')),
  }
}

function parameterChanges(options: OptionValues) {
  const beparams = backendParams(options.keyValues('beparams'))
  const hvparams = byIdent(options.idents('hvparams'))
  const nicparams = options.keyValues('nicparams')
  const diskparams = byIdent(options.idents('diskparams'))
  const collectors = options.keyValues('enabled_data_collectors')
  const allocators = options.keyValues('default_iallocators')
  const intervals = options.keyValues('data_collector_interval')
  return {
    beparams: Object.keys(beparams).length === 0 ? undefined : beparams,
    hvparams: hvparams && mapValues(hvparams, (values, name) => hypervisorParams(values, name)),
    nicparams,
    ndparams: nodeParams(options.keyValues('ndparams')),
    diskparams: diskparams && mapValues(diskparams, guessed),
    ipolicy: policy(options),
    hv_state: numbersByIdent(options.idents('hv_state')),
    disk_state: numbersByIdent(options.idents('disk_state')),
    default_iallocator_params: options.keyValues('default_iallocator_params'),
    default_iallocators: allocators && mapValues(allocators, (names) => (names === '' ? [] : String(names).split(':'))),
    enabled_data_collectors: collectors && mapValues(collectors, isOn),
    // Given in seconds, kept in microseconds.
    data_collector_interval: intervals && mapValues(intervals, (value) => Math.round(Number(value) * 1e6)),
  }
}

const mapValues = <V, R>(
  values: Readonly<Record<string, V>>,
  change: (value: V, name: string) => R,
): Record<string, R> => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))

const isOn = (value: KeyValues[string]): boolean =>
  value === true || (typeof value === 'string' && /^(true|yes|on|1)$/i.test(value))

const commaList = (text: string | undefined): string[] | undefined =>
  text === undefined ? undefined : text === '' ? [] : text.split(',')

function wholeNumber(text: string, option: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new CommandFailure(`The ${option} option expects an int parameter, not '${text}'`)
}

/** `100-200,300` as `[[100, 200], [300, 300]]`. */
function uidRanges(text: string | undefined): [number, number][] | undefined {
  return commaList(text)?.map((range) => {
    const [low = '', high = low] = range.split('-')
    return [wholeNumber(low, 'uid'), wholeNumber(high, 'uid')]
  })
}
