// gnt-cluster modify, and the options that gnt-cluster init shares.
import { pythonText } from '../../lib/text/python-text'
import { OpClusterSetParams } from '../../opcodes/cluster'
import type { Call } from '../command'
import { CommandFailure, refusal } from '../outcome'
import { waitForHandedOn } from '../instance/move'
import { NOTHING_GIVEN } from '../instance/modify'
import type { KeyValues, OptionValues } from '../input/option-values'
import { ALLOCATOR_KINDS } from '../../model/allocators'
import { NIC_TYPES } from '../../model/constants/params'
import { enforceTypes } from '../../model/param-types'
import {
  backendParams,
  byIdent,
  hypervisorName,
  diskStates,
  guessed,
  hypervisorParams,
  nodeParams,
  numbersByIdent,
  wholeIndex,
} from '../input/params'
import { policy } from '../input/policy'
import { opcodeOf } from '../submit/submit'

export async function modifyCluster(call: Call): Promise<number> {
  const { options } = call
  const changes = clusterChanges(options)
  if (Object.values(changes).every((value) => value === undefined)) throw new CommandFailure(NOTHING_GIVEN)
  const result = await call.jobs.run(opcodeOf(OpClusterSetParams, { ...changes, force: options.flag('force') }))
  return waitForHandedOn(call, result)
}

/** Parameters of the opcode; undefined if the option was not given. */
export const clusterChanges = (options: OptionValues) => ({ ...simpleChanges(options), ...parameterChanges(options) })

function simpleChanges(options: OptionValues) {
  const netmask = options.text('master_netmask')
  return {
    ...options.parametersOf(OpClusterSetParams),
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
  const strange = Object.keys(allocators ?? {}).find((kind) => !ALLOCATOR_KINDS.some((known) => known === kind))
  if (strange !== undefined)
    throw refusal(`--default-iallocators: there is no kind '${strange}', only ${ALLOCATOR_KINDS.join(', ')}`)
  const intervals = options.keyValues('data_collector_interval')
  return {
    beparams: Object.keys(beparams).length === 0 ? undefined : beparams,
    hvparams: hvparams && mapValues(hvparams, (values, name) => hypervisorParams(values, hypervisorName(name))),
    nicparams: nicparams && enforceTypes(nicparams, NIC_TYPES),
    ndparams: nodeParams(options.keyValues('ndparams')),
    diskparams: diskparams && mapValues(diskparams, guessed),
    ipolicy: policy(options),
    hv_state: numbersByIdent(options.idents('hv_state')),
    disk_state: diskStates(options.idents('disk_state')),
    default_iallocators: allocators && mapValues(allocators, (names) => (names === '' ? [] : String(names).split(':'))),
    enabled_data_collectors: collectors && mapValues(collectors, isOn),
    data_collector_interval: intervals && microseconds(intervals),
  }
}

const mapValues = <V, R>(
  values: Readonly<Record<string, V>>,
  change: (value: V, name: string) => R,
): Record<string, R> => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]))

function isOn(value: KeyValues[string], name: string): boolean {
  if (value === true || /^(true|yes|on|1)$/i.test(String(value))) return true
  if (value === false || /^(false|no|off|0)$/i.test(String(value))) return false
  throw new CommandFailure(`--enabled-data-collectors: ${name} is true or false, not '${String(value)}'`)
}

/** Given in seconds, stored in microseconds. */
function microseconds(intervals: KeyValues): Record<string, number> {
  if (!Object.values(intervals).every((value) => typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)))
    throw new CommandFailure(`Can't transform all values to integers: ${pythonText(intervals)}`)
  return mapValues(intervals, (value) => Math.round(Number(value) * 1e6))
}

const commaList = (text: string | undefined): string[] | undefined =>
  text === undefined ? undefined : text === '' ? [] : text.split(',')

function wholeNumber(text: string, option: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  throw new CommandFailure(`The ${option} option expects an int parameter, not '${text}'`)
}

/** `100-200,300` as `[[100, 200], [300, 300]]`. */
function uidRanges(text: string | undefined): [number, number][] | undefined {
  return commaList(text)?.map((range) => {
    const ends = range.split('-')
    const [low = '', high = low] = ends
    if (ends.length > 2) throw refusal(`Invalid user-id range definition. Only one hyphen allowed: ${pythonText(ends)}`)
    const end = (uid: string, which: string) =>
      wholeIndex(uid, `Invalid user-id value for ${which} boundary of user-id range`)
    return [end(low, 'lower'), end(high, 'higher')]
  })
}
