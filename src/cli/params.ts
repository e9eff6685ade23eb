// Key=value options as typed parameters, with the texts that Ganeti uses for wrong ones.
import { BE_TYPES, ND_TYPES } from '../model/constants/params'
import { HV_PARAMS } from '../model/constants/hypervisors'
import type { ParamValue } from '../model/common'
import { type ParamType, enforceType, enforceTypes, parseUnit } from '../model/param-types'
import { CommandFailure, UsageError } from './command'
import type { IdentKeyValues, KeyValues } from './option-values'

const DEFAULT = ['default']

/** `memory` sets both bounds. */
export const backendParams = (values: KeyValues = {}) => enforceTypes(values, { ...BE_TYPES, memory: 'size' }, DEFAULT)

/** The hypervisor's own types, or those of all hypervisors where it is not known which is meant. */
export function hypervisorParams(values: KeyValues = {}, hypervisor?: string) {
  const known = Object.keys(HV_PARAMS).includes(hypervisor ?? '')
  const tables = Object.entries(HV_PARAMS).filter(([name]) => !known || name === hypervisor)
  const types = new Map<string, ParamType>()
  for (const [, table] of tables) for (const [name, { type }] of Object.entries(table)) types.set(name, type)
  return enforceTypes(values, Object.fromEntries(types), DEFAULT)
}

export const nodeParams = (values: KeyValues | undefined) => values && enforceTypes(values, ND_TYPES, DEFAULT)

/** Dictionaries of several `ID:key=value` options, by ID. */
export function byIdent(options: readonly IdentKeyValues[]): Record<string, KeyValues> | undefined {
  if (options.length === 0) return undefined
  return Object.fromEntries(
    options.map(([ident, values]) => {
      if (values === false || values === null) throw new UsageError(`'${ident}' needs parameters: ${ident}:key=value`)
      return [ident, values]
    }),
  )
}

/** Hypervisor state and disk state: numbers by name, by hypervisor or storage type. */
export function numbersByIdent(
  options: readonly IdentKeyValues[],
): Record<string, Record<string, ParamValue>> | undefined {
  const all = byIdent(options)
  if (all === undefined) return undefined
  const numbers = (values: KeyValues) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, enforceType(name, value, 'int')]))
  return Object.fromEntries(Object.entries(all).map(([ident, values]) => [ident, numbers(values)]))
}

/** Numbers and truth values from their spelling; for disk parameters, whose types the master knows. */
export const guessed = (values: KeyValues): Record<string, ParamValue> =>
  Object.fromEntries(Object.entries(values).map(([name, value]): [string, ParamValue] => [name, guess(value)]))

function guess(value: ParamValue): ParamValue {
  if (typeof value !== 'string') return value
  if (/^-?\d+$/.test(value)) return Number(value)
  return /^(true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value
}

/** Positions of `0:...`, `1:...` as a list with a dictionary for each, also for those that are not named. */
export function byIndex(options: readonly IdentKeyValues[], kind: string): KeyValues[] {
  const list: KeyValues[] = []
  for (const [ident, values] of options) {
    if (!/^\d+$/.test(ident)) throw new CommandFailure(`Invalid ${kind} index passed: '${ident}'`)
    if (values === false || values === null)
      throw new CommandFailure(`Invalid ${kind}/${ident} value: key=value expected`)
    while (list.length <= Number(ident)) list.push({})
    list[Number(ident)] = values
  }
  return list
}

/** Parameters of a new disk: sizes have units, spindles are a number. */
export function diskValues(values: KeyValues, label: string): Record<string, unknown> {
  const { size, spindles, adopt, ...rest } = values
  if (size !== undefined && adopt !== undefined)
    throw new CommandFailure(`Only one of size and adopt can be given for ${label}`)
  return {
    ...rest,
    ...(adopt !== undefined && { adopt, size: 0 }),
    ...(size !== undefined && { size: diskSize(size, label) }),
    ...(spindles !== undefined && { spindles: enforceType('spindles', spindles, 'int') }),
  }
}

export function diskSize(text: unknown, label: string): number {
  try {
    return parseUnit(text)
  } catch (error) {
    throw new CommandFailure(`Invalid size for ${label}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Options that set parts of an instance policy, as the opcode takes them. */
export function policy(options: {
  raw(dest: string): unknown
  keyValues(dest: string): KeyValues | undefined
  list(dest: string): readonly string[] | undefined
}): Record<string, unknown> | undefined {
  const bounds = options.raw('ipolicy_bounds_specs')
  const std = options.keyValues('ipolicy_std_specs')
  const result: Record<string, unknown> = {}
  if (Array.isArray(bounds)) result['minmax'] = bounds.map((pair: unknown) => specs(pair))
  if (std) result['std'] = specValues(std)
  const templates = options.list('ipolicy_disk_templates')
  if (templates) result['disk-templates'] = templates
  for (const [dest, name] of [
    ['ipolicy_vcpu_ratio', 'vcpu-ratio'],
    ['ipolicy_spindle_ratio', 'spindle-ratio'],
  ] as const) {
    const ratio = options.raw(dest)
    if (ratio !== undefined) result[name] = ratio
  }
  return Object.keys(result).length === 0 ? undefined : result
}

/** `{min: {...}, max: {...}}` */
function specs(pair: unknown): Record<string, unknown> {
  if (typeof pair !== 'object' || pair === null)
    throw new UsageError('--ipolicy-bounds-specs needs min:... and max:...')
  return Object.fromEntries(Object.entries(pair).map(([bound, values]) => [bound, specValues(values as KeyValues)]))
}

const SIZES: readonly string[] = ['memory-size', 'disk-size']

function specValues(values: KeyValues): Record<string, ParamValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      enforceType(name, value, SIZES.includes(name) ? 'size' : 'int'),
    ]),
  )
}
