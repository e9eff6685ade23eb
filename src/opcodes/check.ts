// The checks of parameters' values. Each check parses a JSON value into its canonical form, and carries the JSON schema from which interfaces, the
// OpenAPI document and forms are printed. Knows nothing of opcodes or of the cluster.
import { isIPv4, isIPv6 } from 'node:net'

export interface Schema {
  type?: string
  format?: string
  description?: string
  default?: unknown
  nullable?: boolean
  enum?: readonly (string | number)[]
  items?: Schema
  minItems?: number
  maxItems?: number
  minLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: boolean
  properties?: Record<string, Schema>
  required?: readonly string[]
  additionalProperties?: boolean | Schema
  anyOf?: readonly Schema[]
  pattern?: string
}

/** Who may see a value: private ones stay out of logs, secret ones also out of job files and answers. */
export type Secrecy = 'private' | 'secret' | 'nested'

export interface Check<T> {
  /** The value in canonical form; throws Mismatch, in luxid's words. */
  parse(value: unknown): T
  readonly schema: Schema
  readonly secrecy?: Secrecy
}

export type ValueOf<C> = C extends Check<infer T> ? T : never
export type JsonObject = Record<string, unknown>

/** A value of the wrong kind; the text says what could not be read. */
export class Mismatch extends Error {}

/** A value of the right kind that cannot be meant: its text is told even where Ganeti only names the parameter. */
export class Explained extends Mismatch {}

export const any: Check<unknown> = withoutNul({ parse: (value) => value, schema: {} })

export const none: Check<null> = simple('()', { nullable: true }, (value) => value === null)
export const bool: Check<boolean> = simple('Bool', { type: 'boolean' }, (value) => typeof value === 'boolean')
export const int: Check<number> = simple('Int', { type: 'integer' }, (value) => Number.isSafeInteger(value))
export const float: Check<number> = simple('Double', { type: 'number' }, (value) => Number.isFinite(value))
export const text: Check<string> = withoutNul(
  simple<string>('String', { type: 'string' }, (value) => typeof value === 'string'),
)
/** An object without a check for NUL: code that reads its values one by one can name the wrong one. */
export const keyed: Check<JsonObject> = simple('JSObject', { type: 'object', additionalProperties: true }, isObject)
export const object: Check<JsonObject> = withoutNul(keyed)

export const nonEmpty: Check<string> = {
  schema: { type: 'string', minLength: 1 },
  parse(value) {
    const read = text.parse(value)
    if (read === '') throw new Mismatch('Received empty value where text is needed')
    return read
  },
}

export const nonNegative = (check: Check<number>): Check<number> =>
  refine(check, { minimum: 0 }, (value) => value >= 0, outside('non-negative', check))

export const positive = (check: Check<number>): Check<number> =>
  refine(check, { minimum: 0, exclusiveMinimum: true }, (value) => value > 0, outside('positive', check))

/** Fractions are shown with their point even where they have none to show. */
const outside =
  (kind: string, { schema }: Check<number>) =>
  (value: number): string =>
    `Invalid value for ${kind} type '${schema.type === 'number' && Number.isInteger(value) ? value.toFixed(1) : value}'`

/** A zone, as in fe80::1%eth0, says something on one machine only. */
export function isPlainIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

export const ipv4Address = address('IPv4Address', 'ipv4', isIPv4)
export const ipv6Address = address('IPv6Address', 'ipv6', isPlainIPv6)
export const ipv4Network = network('IPv4Network', isIPv4, 32)
export const ipv6Network = network('IPv6Network', isPlainIPv6, 128)

/** `name` is the type's name in error texts. */
export function oneOf<const T extends string | number>(name: string, values: readonly T[]): Check<T> {
  const known = new Map<unknown, T>(values.map((value) => [value, value]))
  return {
    schema: { type: typeof values[0] === 'number' ? 'integer' : 'string', enum: values },
    parse(value) {
      const found = known.get(value)
      if (found === undefined) throw new Mismatch(`Invalid string value for type ${name}: ${JSON.stringify(value)}`)
      return found
    },
  }
}

export function listOf<T>(item: Check<T>): Check<readonly T[]> {
  return {
    schema: { type: 'array', items: item.schema },
    parse: (value) => readArray(value).map((entry) => item.parse(entry)),
  }
}

/** Like a list; duplicates are dropped. */
export function setOf<T>(item: Check<T>): Check<readonly T[]> {
  const list = listOf(item)
  return { schema: list.schema, parse: (value) => [...new Set(list.parse(value))] }
}

/** Ganeti's names for arrays by their length. */
const TUPLES: Readonly<Record<number, string>> = { 2: 'Pair', 3: 'Triple', 4: '4-tuple' }

/** An array of exactly these entries. */
export function tuple<const C extends readonly Check<unknown>[]>(
  ...items: C
): Check<{ readonly [I in keyof C]: ValueOf<C[I]> }> {
  const schemas = items.map((item) => item.schema)
  return {
    schema: { type: 'array', items: { anyOf: schemas }, minItems: items.length, maxItems: items.length },
    parse(value) {
      if (!Array.isArray(value) || value.length !== items.length)
        throw new Mismatch(`Unable to read ${TUPLES[items.length] ?? 'a tuple'}`)
      const entries: readonly unknown[] = value
      // The compiler cannot see that map keeps a tuple's shape.
      return items.map((item, index) => item.parse(entries[index])) as { [I in keyof C]: ValueOf<C[I]> }
    },
  }
}

export function dictOf<T>(item: Check<T>, key: Check<string> = text): Check<Readonly<Record<string, T>>> {
  return {
    schema: { type: 'object', additionalProperties: item.schema },
    parse(value) {
      const entries = Object.entries(object.parse(value))
      return Object.fromEntries(entries.map(([name, entry]) => [key.parse(name), parseEntry(name, item, entry)]))
    },
  }
}

function parseEntry<T>(name: string, item: Check<T>, entry: unknown): T {
  try {
    return item.parse(entry)
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    throw new Mismatch(`key '${name}': ${error.message}`)
  }
}

export function either<A, B>(first: Check<A>, second: Check<B>): Check<A | B> {
  return {
    schema: { anyOf: [first.schema, second.schema] },
    parse(value) {
      try {
        return first.parse(value)
      } catch (error) {
        if (!(error instanceof Mismatch)) throw error
        return second.parse(value)
      }
    },
  }
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return {
    schema: { ...check.schema, nullable: true },
    parse: (value) => (value === null ? null : check.parse(value)),
  }
}

/** Stored and sent, but shown as `<redacted>`. */
export const hidden = <T>(check: Check<T>): Check<T> => ({ ...check, secrecy: 'private' })

/** Never stored: travels to the job process outside the job file. */
export const secret = <T>(check: Check<T>): Check<T> => ({ ...check, secrecy: 'secret' })

/** A list of opcode parameters, some of which may be private or secret themselves. */
export const hiddenInside = <T>(check: Check<T>): Check<T> => ({ ...check, secrecy: 'nested' })

/** Several keys with one meaning each; null and missing keys are dropped. `rest` admits any other key as it is. */
export function record<const F extends Record<string, Check<unknown>>>(
  fields: F,
  options: { rest: boolean },
): Check<{ readonly [K in keyof F]?: ValueOf<F[K]> } & JsonObject> {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, check]) => [name, check.schema]))
  return {
    schema: { type: 'object', properties, additionalProperties: options.rest },
    parse(value) {
      const given = object.parse(value)
      if (!options.rest) refuseOtherKeys(given, Object.keys(fields))
      const read: JsonObject = {}
      for (const [name, check] of Object.entries(fields)) {
        const entry = given[name]
        if (entry !== undefined && entry !== null) read[name] = readField(name, check, entry)
      }
      const others = Object.entries(given).filter(([name]) => !Object.hasOwn(fields, name))
      // Built field by field from the table that the type is computed from.
      return { ...read, ...Object.fromEntries(others) } as { [K in keyof F]?: ValueOf<F[K]> } & JsonObject
    },
  }
}

/** Exactly these keys, of which some must be there. */
export function required<T>(
  fields: Record<keyof T & string, Check<unknown>>,
  needed: readonly (keyof T & string)[],
): Check<T> {
  const all = record(fields, { rest: false })
  return {
    schema: { ...all.schema, required: needed },
    parse(value) {
      const read = all.parse(value)
      const missing = needed.find((name) => read[name] === undefined)
      if (missing !== undefined) throw new Mismatch(`'${missing}' is missing`)
      // Checked field by field against the table beside the type.
      return read as T
    },
  }
}

export function readField<T>(name: string, check: Check<T>, value: unknown): T {
  try {
    return check.parse(value)
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    throw new Mismatch(`Can't parse value for '${name}': ${error.message}`)
  }
}

export function refuseOtherKeys(given: JsonObject, allowed: readonly string[]): void {
  const superfluous = Object.keys(given).filter((name) => !allowed.includes(name))
  if (superfluous.length === 0) return
  const [found, known] = [superfluous, allowed].map((names) => JSON.stringify([...names].sort()))
  throw new Mismatch(`Superfluous dictionary keys: ${found}, but only ${known} allowed.`)
}

/** Texts become arguments, paths and the environment of programs, where NUL is the end. */
function withoutNul<T>(check: Check<T>): Check<T> {
  return {
    ...check,
    parse(value) {
      const read = check.parse(value)
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

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function readArray(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Mismatch('Unable to read list')
  return value
}

/** A check that refuses some values of another one. */
export function refine<T>(
  check: Check<T>,
  more: Schema,
  accepts: (value: T) => boolean,
  complaint: (value: T) => string,
): Check<T> {
  return {
    schema: { ...check.schema, ...more },
    parse(value) {
      const read = check.parse(value)
      if (!accepts(read)) throw new Mismatch(complaint(read))
      return read
    },
  }
}

function simple<T>(name: string, schema: Schema, accepts: (value: unknown) => boolean): Check<T> {
  return {
    schema,
    parse(value) {
      if (!accepts(value)) throw new Mismatch(`Unable to read ${name}`)
      // `accepts` is the run-time half of T; both are written side by side above.
      return value as T
    },
  }
}

function address(name: string, format: string, accepts: (value: string) => boolean): Check<string> {
  return refine(text, { format }, accepts, (value) => `${JSON.stringify(value)} is no valid ${name}`)
}

/** A network is named by its first address; any other one is a slip of the pen, in the address or in the length. */
function network(name: string, isAddress: (text: string) => boolean, bits: number): Check<string> {
  const written = address(name, 'cidr', (value) => isNetwork(value, isAddress, bits))
  return {
    ...written,
    parse(value) {
      const read = written.parse(value)
      if (isFirstAddress(read)) return read
      throw new Explained(`${JSON.stringify(read)} has host bits set, a network is written with its first address`)
    },
  }
}

function isFirstAddress(value: string): boolean {
  const [host = '', length] = value.split('/')
  return !addressBits(host).slice(Number(length)).includes('1')
}

function addressBits(address: string): string {
  if (isIPv4(address)) return joined(address.split('.'), 10, 8)
  // The URL parser writes all short forms in one way.
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const words = (part: string) => part.split(':').filter((word) => word !== '')
  const zeros = Array<string>(8 - words(head).length - words(tail).length).fill('0')
  return joined([...words(head), ...zeros, ...words(tail)], 16, 16)
}

const joined = (words: readonly string[], base: number, bits: number): string =>
  words.map((word) => parseInt(word, base).toString(2).padStart(bits, '0')).join('')

function isNetwork(value: string, isAddress: (text: string) => boolean, bits: number): boolean {
  const [host, length, ...more] = value.split('/')
  if (host === undefined || host.includes('%') || length === undefined || more.length > 0) return false
  return isAddress(host) && /^\d{1,3}$/.test(length) && Number(length) <= bits
}
