// Describes in words which values a parameter accepts, for errors that name the way out. It never shows the given value, which may be secret.
import type { Schema } from './check'

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  string: 'a text',
}

/** `a list of integers of at least 0`, say; as deep as one can read at a glance. */
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
