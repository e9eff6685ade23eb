// Options that set parts of an instance policy, for the opcodes of clusters and groups.
import type { ParamValue } from '../../model/common'
import { ISPEC_KEYS } from '../../model/constants/params'
import { TypeEnforcementError } from '../../model/errors'
import { enforceType, parseUnit } from '../../model/param-types'
import { refusal } from '../outcome'
import type { KeyValues, OptionValues } from './option-values'
import { errorText } from '../../lib/system-failure'

/** A group's bounds may be `default`, which means the cluster's. */
export function policy(options: OptionValues, bounds = specsOfAll): Record<string, unknown> | undefined {
  const result: Record<string, unknown> = {}
  const minmax = options.raw('ipolicy_bounds_specs')
  const std = options.keyValues('ipolicy_std_specs')
  if (Array.isArray(minmax)) result['minmax'] = bounds(minmax)
  if (std) result['std'] = specValues(std, 'std')
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

export const groupPolicy = (options: OptionValues) =>
  policy(options, (pairs) => (isDefault(pairs) ? 'default' : specsOfAll(pairs)))

const isDefault = (pairs: readonly unknown[]): boolean =>
  pairs.length === 1 && JSON.stringify(pairs[0]) === JSON.stringify({ default: {} })

function specsOfAll(pairs: readonly unknown[]): unknown {
  return pairs.map((pair) =>
    Object.fromEntries(Object.entries(pair ?? {}).map(([bound, values]) => specsOf(bound, values as KeyValues))),
  )
}

/** `min` or `max`, each with all its parameters. */
function specsOf(bound: string, input: KeyValues): [string, Record<string, ParamValue>] {
  if (bound !== 'min' && bound !== 'max') throw refusal(`Invalid key in bounds instance specifications: ${bound}`)
  const values = specValues(input, bound)
  const missing = ISPEC_KEYS.filter((name) => !Object.hasOwn(values, name))
  if (missing.length > 0) throw refusal(`Missing parameters in ipolicy spec ${bound}: ${missing.join(', ')}`)
  return [bound, values]
}

const SIZES: readonly string[] = ['memory-size', 'disk-size']
const KNOWN: readonly string[] = ISPEC_KEYS

function specValues(values: KeyValues, where: string): Record<string, ParamValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      if (!KNOWN.includes(name)) throw new TypeEnforcementError(`Unknown parameter '${name}'`)
      return [name, SIZES.includes(name) ? size(name, value, where) : enforceType(name, value, 'int')]
    }),
  )
}

function size(name: string, value: ParamValue, where: string): number {
  try {
    return parseUnit(value)
  } catch (error) {
    const why = errorText(error)
    throw refusal(`Invalid parameter ${name} (${String(value)}) in ${where} instance specs: ${why}`)
  }
}
