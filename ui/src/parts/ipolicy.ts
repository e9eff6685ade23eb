// An instance policy as readable rows, and as flags of gnt.
import { parameterText } from '../format/differences'
import { flagValue } from './gnt'

type Dict = Readonly<Record<string, unknown>>

const isDict = (value: unknown): value is Dict => typeof value === 'object' && value !== null && !Array.isArray(value)

export interface Limit {
  readonly name: string
  readonly least: string
  readonly standard: string
  readonly most: string
}

/** One row for each resource. A row has the values of all ranges. */
export function limitsOf(policy: unknown): Limit[] {
  if (!isDict(policy)) return []
  const standard = isDict(policy['std']) ? policy['std'] : {}
  const ranges = Array.isArray(policy['minmax']) ? policy['minmax'].filter(isDict) : []
  const ends = (end: string, name: string) =>
    ranges.map((range) => (isDict(range[end]) ? limitText(name, range[end][name]) : '–')).join(' | ')
  const first = ranges[0]
  const least = first === undefined ? undefined : first['min']
  const names = new Set([...Object.keys(standard), ...Object.keys(isDict(least) ? least : {})])
  return [...names].sort().map((name) => ({
    ...{ name, least: ends('min', name), standard: limitText(name, standard[name]), most: ends('max', name) },
  }))
}

const limitText = (name: string, value: unknown): string =>
  typeof value === 'number' ? parameterText(name, value) : '–'

export const listText = (policy: unknown, name: string): string => {
  const value = isDict(policy) ? policy[name] : undefined
  return Array.isArray(value) ? value.map(String).join(', ') : value === undefined ? '–' : String(value)
}

/** The flags for a change of a policy. An emptied part becomes `default`. */
export function policyFlags(policy: unknown): Dict {
  if (!isDict(policy)) return {}
  const { minmax, std, ...others } = policy
  const bounds = Array.isArray(minmax)
    ? minmax.filter(isDict).map(({ min, max }) => `min:${flagValue(min)}/max:${flagValue(max)}`)
    : []
  const flags = Object.entries({ ...others, ...(minmax !== undefined && { 'bounds-specs': bounds.join('//') }) })
  return {
    ...(isDict(std) && { 'ipolicy-std-specs': std }),
    ...Object.fromEntries(
      flags.map(([name, value]) => [`ipolicy-${name}`, flagValue(value) === '' ? 'default' : value]),
    ),
  }
}
