// Parses option texts (spec: cli.json, option_types). As in Ganeti, a wrong number, size or choice is a UsageError, and
// malformed parameters are a ParameterError.
import { ParameterError } from '../../model/errors'
import { parseUnit } from '../../model/param-types'
import { FILTER_ACTIONS, isFilterAction } from '../../model/filter-rule'
import type { Option } from './option'
import { UsageError } from '../outcome'
import type { IdentKeyValues, KeyValues } from './option-values'
import { errorText } from '../../lib/system-failure'

/** `name`: the option as the user typed it. */
export function parseValue(option: Option, text: string, name: string): unknown {
  switch (option.type) {
    case 'flag':
    case 'count':
    case 'string':
      return text
    case 'int':
      return integer(text)
    case 'float':
      return float(text)
    case 'choice':
      return oneOf(option.choices ?? [], text)
    case 'bool':
      return yesOrNo(text)
    case 'unit':
      return size(text)
    case 'keyval':
      return keyValues(text, name)
    case 'identkeyval':
      return identKeyValues(text, name)
    case 'multilistidentkeyval':
      return text.split('//').map((group) => sections(group, name))
    case 'list':
      return text === '' ? [] : splitCommas(text)
    case 'commalist':
      return text === '' ? [] : text.split(',')
    case 'maybefloat':
      return text === 'default' ? text : float(text)
    case 'json':
      return json(text)
    case 'filteraction':
      return filterAction(text)
  }
}

function integer(text: string): number {
  if (/^[-+]?\d+$/.test(text)) return Number(text)
  throw new UsageError(`invalid integer value: '${text}'`)
}

function float(text: string): number {
  const number = text.trim() === '' ? NaN : Number(text)
  if (Number.isFinite(number)) return number
  throw new UsageError(`invalid floating-point value: '${text}'`)
}

function oneOf(choices: readonly string[], text: string): string {
  if (choices.includes(text)) return text
  throw new UsageError(`invalid choice: '${text}' (choose from ${choices.map((word) => `'${word}'`).join(', ')})`)
}

function yesOrNo(text: string): boolean {
  const word = text.toLowerCase()
  if (word === 'yes' || word === 'true') return true
  if (word === 'no' || word === 'false') return false
  throw new ParameterError(`Invalid boolean value '${word}'`)
}

function size(text: string): number {
  try {
    return parseUnit(text)
  } catch (error) {
    throw new UsageError(errorText(error))
  }
}

/** Splits at commas; a backslash escapes a comma or itself. */
function splitCommas(text: string): string[] {
  const parts = ['']
  for (let at = 0; at < text.length; at++) {
    const next = text[at + 1]
    if (text[at] === '\\' && (next === ',' || next === '\\')) {
      parts[parts.length - 1] = `${parts.at(-1)}${next}`
      at++
    } else if (text[at] === ',') parts.push('')
    else parts[parts.length - 1] = `${parts.at(-1)}${text[at]}`
  }
  return parts
}

/** The rest of a value that has an unescaped comma looks like another key. */
export const ABOUT_COMMAS = 'write \\, for a comma inside a value'

/** `prefixes` gives `no_key`, `-key` and a bare key their meanings. */
function keyValues(text: string, option: string, prefixes = true): KeyValues {
  const values: Record<string, string | boolean | null> = {}
  if (text === '') return values
  for (const part of splitCommas(text)) {
    if (!prefixes && !part.includes('='))
      throw new ParameterError(`Missing value for key '${part}' in option ${option}`)
    const [key, value] = keyValue(part)
    if (Object.hasOwn(values, key))
      throw new ParameterError(`Duplicate key '${key}' in option ${option}; ${ABOUT_COMMAS}`)
    values[key] = value
  }
  return values
}

function keyValue(part: string): [key: string, value: string | boolean | null] {
  const at = part.indexOf('=')
  if (at !== -1) return [part.slice(0, at), part.slice(at + 1)]
  if (part.startsWith('no_')) return [part.slice(3), false]
  if (part.startsWith('-')) return [part.slice(1), null]
  return [part, true]
}

/** `ID:key=value,...`; `no_ID` switches off; `-ID` unsets, but `-1:...` is the index minus one. */
function identKeyValues(text: string, option: string): IdentKeyValues {
  const [ident, rest] = splitIdent(text)
  const refuse = () => new ParameterError(`Cannot pass options when removing parameter groups: ${text}`)
  if (ident.startsWith('no_')) {
    if (rest !== '') throw refuse()
    return [ident.slice(3), false]
  }
  if (/^-(?!\d)/.test(ident)) {
    if (rest !== '') throw refuse()
    return [ident.slice(1), null]
  }
  return [ident, keyValues(rest, option)]
}

function splitIdent(text: string): [ident: string, rest: string] {
  const at = text.indexOf(':')
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

/** `ID:key=value,.../ID:...` */
function sections(text: string, option: string): Record<string, KeyValues> {
  const all: Record<string, KeyValues> = {}
  for (const section of text.split('/')) {
    if (section === '') throw new ParameterError(`Empty section in option '${option}'`)
    const [ident, rest] = splitIdent(section)
    if (Object.hasOwn(all, ident))
      throw new ParameterError(`Duplicated parameter '${ident}' in parsing ${option}: ${section}`)
    all[ident] = keyValues(rest, option, false)
  }
  return all
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new UsageError(`invalid JSON: ${errorText(error)}`)
  }
}

function filterAction(text: string): unknown {
  if (isFilterAction(text)) return text
  const limit = Number(/^RATE_LIMIT\s+(\d+)$/.exec(text)?.[1] ?? 0)
  if (limit > 0) return ['RATE_LIMIT', limit]
  throw new UsageError(`'${text}' is no action; there are ${FILTER_ACTIONS.join(', ')} and 'RATE_LIMIT n' with n > 0`)
}
