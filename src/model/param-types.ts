// Types of free parameters (hvparams, beparams, ...), and coercion of input to them, with Ganeti's texts.
import { pythonText } from '../lib/text/python-text'
import type { ParamValue } from './common'
import { TypeEnforcementError, UnitParseError } from './errors'

export type ParamType = 'bool' | 'int' | 'float' | 'size' | 'kib' | 'string' | 'maybe-string'

interface ParamSpec {
  readonly type: ParamType
  readonly default: ParamValue
  /** Ganeti does not have it. A configuration has it only where somebody has set it. */
  readonly ours?: true
}

export type ParamSpecs = Readonly<Record<string, ParamSpec>>

/**
 * Coerces each given parameter to its type: "true" to true, "1g" to 1024, and so on. Values of `allowed` pass as they are
 * (the words `default` and `none`, for instance). Throws TypeEnforcementError naming the parameter.
 */
export function enforceTypes(
  params: Readonly<Record<string, unknown>>,
  types: Readonly<Record<string, ParamType>>,
  allowed: readonly unknown[] = [],
): Record<string, ParamValue> {
  const result: Record<string, ParamValue> = {}
  for (const [name, value] of Object.entries(params)) {
    const type = Object.hasOwn(types, name) ? types[name] : undefined
    if (type === undefined) throw new TypeEnforcementError(`Unknown parameter '${name}'`)
    result[name] = allowed.includes(value) ? (value as ParamValue) : enforceType(name, value, type)
  }
  return result
}

export function enforceType(name: string, value: unknown, type: ParamType): ParamValue {
  const wrong = (what: string) =>
    new TypeEnforcementError(`'${name}' (value ${pythonText(value)}) is not a valid ${what}`)
  switch (type) {
    case 'maybe-string':
      if (value === null) return null
      return enforceType(name, value, 'string')
    case 'string':
      if (typeof value === 'string') return value
      if (value === false) return ''
      throw wrong('string')
    case 'bool':
      if (typeof value !== 'string') return Boolean(value)
      if (value.toLowerCase() === 'true') return true
      if (value.toLowerCase() === 'false') return false
      throw wrong('boolean')
    case 'int': {
      const number = toNumber(value)
      if (number === undefined || !Number.isSafeInteger(number)) throw wrong('integer')
      return number
    }
    case 'float': {
      const number = toNumber(value)
      if (number === undefined) throw wrong('float')
      return number
    }
    case 'kib': {
      const [, digits, unit] = /^(\d+)(k|kib|kb|m|mib|mb)?$/i.exec(String(value).trim()) ?? []
      if (digits === undefined) throw wrong('size: write KiB, such as 64 or 64k')
      return Number(digits) * (unit?.toLowerCase().startsWith('m') === true ? 1024 : 1)
    }
    case 'size':
      try {
        return parseUnit(value)
      } catch (error) {
        throw new TypeEnforcementError(
          `'${name}' (value ${pythonText(value)}) is not a valid size. error: ${error instanceof Error ? error.message : ''}`,
        )
      }
  }
}

function toNumber(value: unknown): number | undefined {
  if (typeof value === 'boolean') return Number(value)
  if (typeof value === 'string' && value.trim() === '') return undefined
  const number = typeof value === 'number' || typeof value === 'string' ? Number(value) : NaN
  return Number.isFinite(number) ? number : undefined
}

const UNITS: Readonly<Record<string, number>> = {
  m: 1,
  mb: 1,
  mib: 1,
  g: 1024,
  gb: 1024,
  gib: 1024,
  t: 1048576,
  tb: 1048576,
  tib: 1048576,
}

/** A size as MiB, rounded up to a multiple of 4 as Ganeti does: `512`, "1.5G", "1024m". */
export function parseUnit(input: unknown): number {
  const match = /^([.\d]+)\s*([a-zA-Z]+)?$/.exec(String(input))
  const number = match?.[1] === undefined ? NaN : Number(match[1])
  if (!match || !Number.isFinite(number)) throw new UnitParseError(`Invalid format`)
  const factor = match[2] === undefined ? 1 : UNITS[match[2].toLowerCase()]
  if (factor === undefined) throw new UnitParseError(`Unknown unit: ${match[2]}`)
  return Math.ceil(Math.ceil(number * factor) / 4) * 4
}
