// Bodies of /3 are declared by shapes, like everything that comes from outside. Their refusals have texts of their own.
import { badRequest } from '../../../http/errors'
import { timeOf } from '../../../lib/text/rfc3339'
import { string } from '../../../lib/shapes/leaves'
import { type Fields, objectOf, type ObjectOf } from '../../../lib/shapes/objects'
import { isObject, type JsonObject, Mismatch, type Schema, type Shape } from '../../../lib/shapes/shape'

export interface BodyWords {
  /** The text for a body that is not an object. */
  readonly whole?: string
  /** The text for a property that is not declared. */
  unknown?(name: string): string
  /** The text for a required property that is missing. The default is the text of its shape. */
  readonly missing?: string
  /** One text for every mistake, for a body so small that one sentence says everything. */
  readonly everything?: string
}

export interface Body<T> {
  readonly schema: Schema
  /** Throws a 400 that names the first mistake. */
  read(body: unknown): T
}

/** Unlike in Ganeti's dictionaries, null does not stand for a property that is left out. It is accepted only if the shape allows it. */
export function bodyOf<const F extends Fields>(fields: F, words: BodyWords = {}): Body<ObjectOf<F>> {
  const { everything, missing = everything, whole = everything ?? 'The body must be an object' } = words
  const unknown = (name: string) => everything ?? words.unknown?.(name) ?? `${name}: there is no such property`
  return {
    schema: objectOf(fields, { others: 'refused' }).schema,
    read(body) {
      if (!isObject(body)) throw badRequest(whole)
      const other = Object.keys(body).find((name) => !Object.hasOwn(fields, name))
      if (other !== undefined) throw badRequest(unknown(other))
      const read: JsonObject = {}
      for (const [name, shape] of Object.entries(fields)) {
        const said = body[name] === undefined ? missing : everything
        const value = readField(shape, body[name], (reason) => said ?? `${name}: ${reason}`)
        if (value !== undefined) read[name] = value
      }
      // It was made field by field from the table from which the type is computed.
      return read as ObjectOf<F>
    },
  }
}

function readField(
  shape: Shape<unknown> & { optional?: true; missing?(): unknown },
  value: unknown,
  complaint: (reason: string) => string,
): unknown {
  if (value === undefined && shape.missing !== undefined) return shape.missing()
  if (value === undefined && shape.optional === true) return undefined
  try {
    return shape.parse(value)
  } catch (error) {
    if (error instanceof Mismatch) throw badRequest(complaint(error.reason))
    throw error
  }
}

/** The shape with another text for values that do not fit it. */
export const saying = <S extends Shape<unknown>>(shape: S, reason: string): S => ({
  ...shape,
  parse(value: unknown) {
    try {
      return shape.parse(value)
    } catch (error) {
      throw error instanceof Mismatch ? new Mismatch(reason) : error
    }
  },
})

/** A time as text. It becomes seconds. */
export const time: Shape<number> = {
  schema: { type: 'string', format: 'date-time' },
  parse(value) {
    const time_s = typeof value === 'string' ? timeOf(string.parse(value)) : undefined
    if (time_s === undefined) throw new Mismatch('must be a time with its offset: 2027-01-31T12:00:00Z')
    return time_s
  },
}

/** Throws a 400 for a time in the past. */
export function inFuture(name: string, time_s: number | null, now_s: number): void {
  if (time_s !== null && time_s <= now_s) throw badRequest(`${name}: is in the past`)
}
