// Shapes of objects whose keys are declared one by one.
import { keyed } from './leaves'
import { type FileNames, type JsonObject, Mismatch, type Shape, type ValueOf, parsePart } from './shape'

/** A null value counts as missing; then the object lacks the key. */
export interface Optional<T> extends Shape<T> {
  readonly optional: true
}

export const optional = <T>(shape: Shape<T>): Optional<T> => ({ ...shape, optional: true })

/** Has this value if it is missing or null. */
export const defaulted = <T>(shape: Shape<T>, missing: () => NoInfer<T>): Shape<T> & { missing(): T } => ({
  ...shape,
  missing,
})

export type Fields = Readonly<Record<string, Shape<unknown>>>
type OptionalIn<F extends Fields> = { [K in keyof F]: F[K] extends Optional<unknown> ? K : never }[keyof F]
export type ObjectOf<F extends Fields> = { readonly [K in Exclude<keyof F, OptionalIn<F>>]: ValueOf<F[K]> } & {
  readonly [K in OptionalIn<F>]?: ValueOf<F[K]>
}

/** The treatment of keys that are not declared. */
type Others = { readonly others: 'refused' | 'dropped' | 'kept' }

/** An object with these keys. Parsing puts them into the declared order. */
export function objectOf<const F extends Fields>(fields: F, { others }: Others): Shape<ObjectOf<F>> {
  const all = Object.entries(fields).map(([name, shape]) => ({ name, shape, ...needOf(shape) }))
  const needed = all.filter(({ need }) => need === 'required').map(({ name }) => name)
  const encoded = all.flatMap(({ name, shape: { encode } }) => (encode ? [{ name, encode }] : []))
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(all.map(({ name, shape }) => [name, shape.schema])),
      additionalProperties: others !== 'refused',
      ...(needed.length > 0 && { required: needed }),
    },
    parse(value, files) {
      const input = keyed.parse(value)
      if (others === 'refused') refuseOthers(input, fields)
      const read: JsonObject = {}
      for (const { name, shape, need, missing } of all) {
        const entry = input[name]
        if (entry === undefined || (entry === null && need !== 'required')) {
          if (need === 'required') throw missingKey(name, input)
          if (missing !== undefined) read[name] = missing()
          continue
        }
        const one = parsePart(shape, entry, 'field', name, files)
        if (one !== undefined) read[name] = one
      }
      // The object is made field by field from the table from which the type is computed.
      return (others === 'kept' ? { ...read, ...without(input, fields) } : read) as ObjectOf<F>
    },
    ...(encoded.length > 0 && {
      encode(value: ObjectOf<F>, files: FileNames) {
        const input = new Map(Object.entries(value))
        const changed = encoded.filter(({ name }) => input.has(name))
        return {
          ...value,
          ...Object.fromEntries(changed.map(({ name, encode }) => [name, encode(input.get(name), files)])),
        }
      },
    }),
  }
}

/** The same, but all keys may be missing. */
export function partialOf<const F extends Fields>(
  fields: F,
  others: Others,
): Shape<{ readonly [K in keyof F]?: ValueOf<F[K]> } & JsonObject> {
  const all: Fields = Object.fromEntries(Object.entries(fields).map(([name, shape]) => [name, optional(shape)]))
  return objectOf(all, others)
}

/** Throws Mismatch, in Ganeti's words. */
export function refuseOthers(input: JsonObject, ...known: readonly object[]): void {
  for (const key of Object.keys(input)) if (!isIn(known, key)) throw superfluous(input, known, key)
}

function isIn(known: readonly object[], key: string): boolean {
  for (const one of known) if (Object.hasOwn(one, key)) return true
  return false
}

export const missingKey = (key: string, object: JsonObject): Mismatch =>
  new Mismatch(`key '${key}' not found, object contains only ${JSON.stringify(Object.keys(object).sort())}`, {
    kind: 'missing',
    key,
    object,
  })

function superfluous(input: JsonObject, known: readonly object[], key: string): Mismatch {
  const found = JSON.stringify(
    Object.keys(input)
      .filter((name) => !isIn(known, name))
      .sort(),
  )
  const allowed = JSON.stringify(known.flatMap((one) => Object.keys(one)).sort())
  return new Mismatch(`Superfluous dictionary keys: ${found}, but only ${allowed} allowed.`, { kind: 'unknown', key })
}

const without = (input: JsonObject, known: object): JsonObject =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !Object.hasOwn(known, name)))

interface Need {
  readonly need: 'required' | 'optional' | 'defaulted'
  readonly missing?: () => unknown
}

function needOf(shape: Shape<unknown> & { optional?: true; missing?(): unknown }): Need {
  if (shape.missing) return { need: 'defaulted', missing: shape.missing }
  return { need: shape.optional ? 'optional' : 'required' }
}
