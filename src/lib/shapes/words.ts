// Words shapes and mismatches plainly, where the wire does not ask for Ganeti's words.
import { startOf } from '../text/short-text'
import type { Mismatch, Schema, Step } from './shape'

const FOUND_CHARS_MAX = 80

/** `nics[0]: ip: expected a text`. Shows the found value only if it is not secret. */
export function plainly(
  { path, fault, reason }: Mismatch,
  displayed: { place?: string; found?: boolean } = {},
): string {
  const where = [displayed.place ?? '', ...path.map(stepText)].join('').replace(/^(: |\.)/, '')
  const whose = where === '' ? '' : ` in ${where}`
  const before = where === '' ? '' : `${where}: `
  if (fault === undefined) return before + reason
  if (fault.kind === 'unknown') return `unknown key "${fault.key}"${whose}`
  if (fault.kind === 'missing') return `key "${fault.key}" is missing${whose}`
  const found = displayed.found ? `, found ${startOf(JSON.stringify(fault.value) ?? 'nothing', FOUND_CHARS_MAX)}` : ''
  return `${before}expected ${expected(fault.schema)}${found}`
}

function stepText({ kind, name }: Step): string {
  if (kind === 'field') return `: ${name}`
  if (kind === 'key') return `.${name}`
  return kind === 'index' ? `[${name}]` : ` ${name}`
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  string: 'a text',
}

/** For example `a list of integers of at least 0`; only as deep as people can read. */
export function expected(schema: Schema, depth = 0): string {
  const { anyOf, enum: values, nullable } = schema
  const kind =
    values !== undefined
      ? `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`
      : anyOf !== undefined
        ? [...new Set(anyOf.map((one) => expected(one, depth + 1)))].join(' or ')
        : simple(schema, depth)
  return nullable ? `${kind} or null` : kind
}

function simple(schema: Schema, depth: number): string {
  const { type = '', format, items, minLength, minimum, maximum, minItems, maxItems, properties } = schema
  const bounds = [
    ...(minimum === undefined ? [] : [schema.exclusiveMinimum ? `above ${minimum}` : `at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
  ]
  const details = [
    minLength === undefined ? '' : ' that is not empty',
    format === undefined ? '' : ` (${format})`,
    bounds.length === 0 ? '' : ` of ${bounds.join(' and ')}`,
    minItems !== undefined && minItems === maxItems ? ` of ${minItems} entries` : '',
    depth === 0 && items !== undefined ? `, each ${expected(items, depth + 1)}` : '',
    depth === 0 && properties !== undefined ? ` with any of ${Object.keys(properties).join(', ')}` : '',
  ]
  return (KINDS[type] ?? 'a value') + details.join('')
}
