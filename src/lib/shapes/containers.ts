// Shapes of lists, dictionaries and choices.
import { keyed, text } from './leaves'
import { type FileNames, Mismatch, type Shape, type ValueOf, parsePart, unreadable } from './shape'

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  const { encode } = item
  return {
    schema: { type: 'array', items: item.schema },
    parse: (value, files) => readArray(value).map((entry, index) => parsePart(item, entry, 'index', index, files)),
    ...(encode && { encode: (values: readonly T[], files: FileNames) => values.map((one) => encode(one, files)) }),
  }
}

/** Like a list; duplicates are dropped. */
export function setOf<T>(item: Shape<T>): Shape<readonly T[]> {
  const list = listOf(item)
  return { ...list, parse: (value, files) => [...new Set(list.parse(value, files))] }
}

/** Ganeti's names for arrays by their length. */
const TUPLES: Readonly<Record<number, string>> = { 2: 'Pair', 3: 'Triple', 4: '4-tuple' }

/** An array of exactly these entries. */
export function tuple<const S extends readonly Shape<unknown>[]>(
  ...items: S
): Shape<{ readonly [I in keyof S]: ValueOf<S[I]> }> {
  type Values = { readonly [I in keyof S]: ValueOf<S[I]> }
  const schemas = items.map((item) => item.schema)
  const schema = { type: 'array', items: { anyOf: schemas }, minItems: items.length, maxItems: items.length }
  const encode = (values: Values, files: FileNames) =>
    items.map((item, index) => (item.encode ? item.encode(values[index], files) : values[index]))
  return {
    schema,
    parse(value, files) {
      if (!Array.isArray(value) || value.length !== items.length)
        throw unreadable(TUPLES[items.length] ?? 'a tuple', schema, value)
      const entries: readonly unknown[] = value
      // The compiler cannot see that map keeps a tuple's shape.
      return items.map((item, index) => parsePart(item, entries[index], 'index', index, files)) as unknown as Values
    },
    ...(items.some((item) => item.encode) && { encode }),
  }
}

/** An object of any keys, whose values are all of one shape. */
export function dictOf<T>(item: Shape<T>, key: Shape<string> = text): Shape<Readonly<Record<string, T>>> {
  const { encode } = item
  return {
    schema: { type: 'object', additionalProperties: item.schema },
    parse(value, files) {
      const entries = Object.entries(keyed.parse(value))
      return Object.fromEntries(
        entries.map(([name, entry]) => [key.parse(name), parsePart(item, entry, 'key', name, files)]),
      )
    },
    ...(encode && {
      encode: (values: Readonly<Record<string, T>>, files: FileNames) =>
        Object.fromEntries(Object.entries(values).map(([name, one]) => [name, encode(one, files)])),
    }),
  }
}

/** Both shapes encode values in the same way. */
export function either<A, B>(first: Shape<A>, second: Shape<B>): Shape<A | B> {
  return {
    schema: { anyOf: [first.schema, second.schema] },
    parse(value, files) {
      try {
        return first.parse(value, files)
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error
        return second.parse(value, files)
      }
    },
  }
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  const { encode } = shape
  return {
    schema: { ...shape.schema, nullable: true },
    parse: (value, files) => (value === null ? null : shape.parse(value, files)),
    ...(encode && {
      encode: (value: T | null, files: FileNames) => (value === null ? null : encode(value, files)),
    }),
  }
}

export function readArray(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw unreadable('list', { type: 'array' }, value)
  return value
}
