// Declares the form of a JSON value once. A shape parses input into its canonical form, and carries the JSON schema for
// interfaces, the OpenAPI document and plain descriptions. It knows nothing of opcodes or of the cluster.
import type { Paths } from '../paths'

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
export type Secrecy = 'private' | 'secret'

/** Translates file names, which differ between machines. */
export type FileNames = Pick<Paths, 'fromWire' | 'toWire'>

export interface Shape<T> {
  /** Returns the value in its canonical form; throws Mismatch. Without `files`, file names stay unchanged. */
  parse(value: unknown, files?: FileNames): T
  /** Converts the value back to JSON, if it differs there. */
  encode?(value: T, files: FileNames): unknown
  readonly schema: Schema
  readonly secrecy?: Secrecy
}

export type ValueOf<S> = S extends Shape<infer T> ? T : never
export type JsonObject = Record<string, unknown>

/** One step from a value into its parts. A label is a step without movement, which names the object. */
export interface Step {
  readonly kind: 'field' | 'key' | 'index' | 'label'
  readonly name: string | number
}

/** The mistake, for code with its own wording. */
export type Fault =
  | { readonly kind: 'value'; readonly schema: Schema; readonly value: unknown }
  | { readonly kind: 'missing'; readonly key: string; readonly object: JsonObject }
  | { readonly kind: 'unknown'; readonly key: string }

/** A value of a wrong shape. The message has the words of Ganeti's luxid; `plainly` words it for everybody else. */
export class Mismatch extends Error {
  /** Outermost step first. */
  path: readonly Step[]

  constructor(
    /** Without the path. */
    readonly reason: string,
    readonly fault?: Fault,
  ) {
    super(reason)
    this.path = []
  }

  inside(step: Step): this {
    this.path = [step, ...this.path]
    if (step.kind === 'field') this.message = `Can't parse value for '${step.name}': ${this.message}`
    if (step.kind === 'key') this.message = `key '${step.name}': ${this.message}`
    return this
  }
}

/** A value of the right kind but without sense. Its text is shown even where Ganeti would only name the parameter. */
export class Explained extends Mismatch {}

/** `name` is the kind in Ganeti's words. */
export const unreadable = (name: string, schema: Schema, value: unknown): Mismatch =>
  new Mismatch(`Unable to read ${name}`, { kind: 'value', schema, value })

/** Parses a part of a value. Mistakes carry the step to the part. */
export function parsePart<T>(
  shape: Shape<T>,
  value: unknown,
  kind: Step['kind'],
  name: Step['name'],
  files?: FileNames,
): T {
  try {
    return shape.parse(value, files)
  } catch (error) {
    throw error instanceof Mismatch ? error.inside({ kind, name }) : error
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A shape that refuses some values of another one. */
export function refine<T>(
  shape: Shape<T>,
  more: Schema,
  accepts: (value: T) => boolean,
  complaint: (value: T) => string,
): Shape<T> {
  const schema = { ...shape.schema, ...more }
  return {
    ...shape,
    schema,
    parse(value, files) {
      const read = shape.parse(value, files)
      if (!accepts(read)) throw new Mismatch(complaint(read), { kind: 'value', schema, value })
      return read
    },
  }
}

/** A shape whose values are converted. */
export const mapped = <A, B>({ schema, parse }: Shape<A>, change: (value: A) => B): Shape<B> => ({
  schema,
  parse: (value, files) => change(parse(value, files)),
})

/** A shape that is declared later, or contains itself. */
export const lazy = <T>(shape: () => Shape<T>): Shape<T> => ({
  schema: {},
  parse: (value, files) => shape().parse(value, files),
})

/** Stored and sent, but shown as `<redacted>`. */
export const hidden = <T>(shape: Shape<T>): Shape<T> => ({ ...shape, secrecy: 'private' })

/** Never stored: travels to the job process outside the job file. */
export const secret = <T>(shape: Shape<T>): Shape<T> => ({ ...shape, secrecy: 'secret' })
