// Shapes of values without parts, or with parts that we do not check.
import { Explained, type JsonObject, Mismatch, type Schema, type Shape, isObject, refine, unreadable } from './shape'

export const json: Shape<unknown> = { parse: (value) => value, schema: {} }
export const none = leaf('()', { nullable: true }, (value) => value === null)
export const bool = leaf('Bool', { type: 'boolean' }, (value) => typeof value === 'boolean')
export const int = leaf('Int', { type: 'integer' }, (value): value is number => Number.isSafeInteger(value))
export const float = leaf('Double', { type: 'number' }, (value): value is number => Number.isFinite(value))
export const string = leaf('String', { type: 'string' }, (value) => typeof value === 'string')
/** An object with any keys. */
export const keyed: Shape<JsonObject> = leaf('JSObject', { type: 'object', additionalProperties: true }, isObject)

/** The same for values that become arguments, paths and environments of programs, where NUL ends a text. */
export const any: Shape<unknown> = withoutNul(json)
export const text: Shape<string> = withoutNul(string)
export const object: Shape<JsonObject> = withoutNul(keyed)

export const nonEmpty: Shape<string> = refine(
  text,
  { minLength: 1 },
  (value) => value !== '',
  () => 'Received empty value where text is needed',
)

export const nonNegative = (shape: Shape<number>): Shape<number> =>
  refine(shape, { minimum: 0 }, (value) => value >= 0, outside('non-negative', shape))

export const positive = (shape: Shape<number>): Shape<number> =>
  refine(shape, { minimum: 0, exclusiveMinimum: true }, (value) => value > 0, outside('positive', shape))

/** Exactly this value. */
export const exactly = <const T extends boolean | string>(only: T): Shape<T> =>
  leaf(`${only}`, { type: typeof only }, (value): value is T => value === only)

export const stringOrNumber = leaf(
  'String or Double',
  { anyOf: [{ type: 'string' }, { type: 'number' }] },
  (value) => typeof value === 'string' || typeof value === 'number',
)

/** `name` is the type's name in error texts. */
export function oneOf<const T extends string | number>(name: string, values: readonly T[]): Shape<T> {
  const known = new Map<unknown, T>(values.map((value) => [value, value]))
  const schema = { type: typeof values[0] === 'number' ? 'integer' : 'string', enum: values }
  return {
    schema,
    parse(value) {
      const found = known.get(value)
      if (found !== undefined) return found
      const complaint = `Invalid string value for type ${name}: ${JSON.stringify(value)}`
      throw new Mismatch(complaint, { kind: 'value', schema, value })
    },
  }
}

/** Shows numbers with a decimal point, even whole ones. */
const outside =
  (kind: string, { schema }: Shape<number>) =>
  (value: number): string =>
    `Invalid value for ${kind} type '${schema.type === 'number' && Number.isInteger(value) ? value.toFixed(1) : value}'`

export function withoutNul<T>(shape: Shape<T>): Shape<T> {
  return {
    ...shape,
    parse(value) {
      const read = shape.parse(value)
      if (hasNul(read)) throw new Explained('A text has a NUL character, which no program can be given')
      return read
    },
  }
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, entry]) => hasNul(name) || hasNul(entry))
}

/** `name` is the kind in Ganeti's words. */
export function leaf<T>(name: string, schema: Schema, accepts: (value: unknown) => value is T): Shape<T> {
  return {
    schema,
    parse(value) {
      if (!accepts(value)) throw unreadable(name, schema, value)
      return value
    },
  }
}
