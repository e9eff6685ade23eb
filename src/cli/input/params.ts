// Converts key=value options to typed parameters, with Ganeti's errors.
import { pythonRepr } from '../../lib/text/python-text'
import { errorText } from '../../lib/system-failure'
import { OWN_NAMES } from '../../model/disk-parameters'
import { BE_TYPES, INIC_PARAM_TYPES, ND_TYPES } from '../../model/constants/params'
import { HV_PARAMS } from '../../model/constants/hypervisors'
import type { ParamValue } from '../../model/common'
import { TypeEnforcementError } from '../../model/errors'
import { type ParamType, enforceType, enforceTypes, parseUnit } from '../../model/param-types'
import { refusal } from '../outcome'
import type { IdentKeyValues, KeyValues } from './option-values'

/** Resets a parameter to the value of the level above, such as the cluster's. */
export const DEFAULT = ['default']

/** `memory` sets both bounds; `words` stay as they are. */
export const backendParams = (values: KeyValues = {}, words: readonly (string | null)[] = []) =>
  enforceTypes(values, { ...BE_TYPES, memory: 'size' }, words)

/** Checks the part before the colon of `-H kvm:acpi=true`. */
export function hypervisorName(name: string): string {
  const known = Object.keys(HV_PARAMS)
  if (known.includes(name)) return name
  throw refusal(
    `There is no hypervisor ${pythonRepr(name)}: write -H HYPERVISOR:name=value, where HYPERVISOR is one of ${known.join(', ')}`,
  )
}

/** Uses the hypervisor's own types, or those of all hypervisors if it is unknown. */
export function hypervisorParams(values: KeyValues = {}, hypervisor?: string, words: readonly (string | null)[] = []) {
  const known = Object.keys(HV_PARAMS).includes(hypervisor ?? '')
  const tables = Object.entries(HV_PARAMS).filter(([name]) => !known || name === hypervisor)
  const types = new Map<string, ParamType>()
  for (const [, table] of tables) for (const [name, { type }] of Object.entries(table)) types.set(name, type)
  return enforceTypes(values, Object.fromEntries(types), words)
}

export const nodeParams = (values: KeyValues | undefined) => values && enforceTypes(values, ND_TYPES, DEFAULT)

/** Dictionaries of several `ID:key=value` options, by ID. */
export function byIdent(options: readonly IdentKeyValues[]): Record<string, KeyValues> | undefined {
  if (options.length === 0) return undefined
  return Object.fromEntries(
    options.map(([ident, values]) => {
      if (values === false || values === null)
        throw new TypeEnforcementError(`'${ident}' needs parameters: ${ident}:key=value`)
      return [ident, values]
    }),
  )
}

/** Hypervisor state: numbers by name, by hypervisor. */
export function numbersByIdent(
  options: readonly IdentKeyValues[],
): Record<string, Record<string, ParamValue>> | undefined {
  const all = byIdent(options)
  if (all === undefined) return undefined
  const numbers = (values: KeyValues) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, enforceType(name, value, 'int')]))
  return Object.fromEntries(Object.entries(all).map(([ident, values]) => [ident, numbers(values)]))
}

/** Disk state: the same by storage type and name, as in `plain/xenvg:disk_reserved=5`. */
export function diskStates(options: readonly IdentKeyValues[]): Record<string, object> | undefined {
  const states = numbersByIdent(options)
  if (states === undefined) return undefined
  const nested: Record<string, object> = {}
  for (const [ident, values] of Object.entries(states)) {
    const [storage = '', ...names] = ident.split('/')
    nested[storage] = { ...nested[storage], ...(names.length === 0 ? values : { [names.join('/')]: values }) }
  }
  return nested
}

/** Guesses numbers and truth values from their spelling, for disk parameters, whose types the master knows. */
export const guessed = (values: KeyValues): Record<string, ParamValue> =>
  Object.fromEntries(Object.entries(values).map(([name, value]): [string, ParamValue] => [name, guess(value)]))

function guess(value: ParamValue): ParamValue {
  if (typeof value !== 'string') return value
  if (/^-?\d+$/.test(value)) return Number(value)
  return /^(true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value
}

/** Turns options such as `0:...`, `1:...` into a list of at most `max`, with empty dictionaries for gaps. */
export function byIndex(options: readonly IdentKeyValues[], kind: string, max: number): KeyValues[] {
  const list: KeyValues[] = []
  for (const [ident, values] of options) {
    const first = `, write --${kind === 'NIC' ? 'net' : kind} 0:${ident} for the first one`
    const index = wholeIndex(ident, `Invalid ${kind} index passed`, ident.includes('=') ? first : '')
    if (index < 0) throw refusal(`Invalid ${kind} index passed: ${index} is below 0, which is the first`)
    if (index >= max)
      throw refusal(`Invalid ${kind} index passed: ${ident}: an instance has at most ${max}, from 0 to ${max - 1}`)
    while (list.length <= index) list.push({})
    list[index] = enteredParams(values, `${kind.toLowerCase()}/${index}`)
  }
  return list
}

/** The part after `0:`. `no_0` and `-x` have none, and are refused. */
export function enteredParams(values: KeyValues | false | null, label: string): KeyValues {
  if (values !== false && values !== null) return values
  throw refusal(`Invalid ${label} value: expected dict, got ${values === false ? 'False' : 'None'}`)
}

/** Parses a position. The error for any other text ends with `advice`. */
export function wholeIndex(text: string, complaint: string, advice = ''): number {
  if (/^\s*[-+]?\d+\s*$/.test(text)) return Number(text)
  throw refusal(`${complaint}: ${pythonRepr(text)} is not a number${advice}`)
}

export const nicValues = (values: KeyValues) => enforceTypes(values, INIC_PARAM_TYPES)

/** Parameters of a disk: sizes have units, spindles are a number, and the master knows the types of its template's parameters. */
export function diskValues(values: KeyValues, label: string): Record<string, unknown> {
  const { size, spindles, adopt, ...rest } = values
  const own = Object.entries(rest).filter(([name]) => OWN_NAMES.includes(name))
  if (size !== undefined && adopt !== undefined) throw refusal(`Only one of 'size' and 'adopt' allowed (${label})`)
  return {
    ...rest,
    ...guessed(Object.fromEntries(own)),
    ...(adopt !== undefined && { adopt, size: 0 }),
    ...(size !== undefined && { size: diskSize(size, label) }),
    ...(spindles !== undefined && { spindles: enforceType('spindles', spindles, 'int') }),
  }
}

export function diskSize(text: unknown, label: string): number {
  try {
    return parseUnit(text)
  } catch (error) {
    throw refusal(`Invalid size for ${label}: ${errorText(error)}`)
  }
}
