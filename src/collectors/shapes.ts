// Short words for the shapes of collectors' data. Documents show the shapes, and tests check the data against them.
import { dictOf, listOf, orNull } from '../lib/shapes/containers'
import { bool, float, int, json, oneOf as oneNamed, string } from '../lib/shapes/leaves'
import { objectOf, optional } from '../lib/shapes/objects'
import { Mismatch, type Shape } from '../lib/shapes/shape'
import { plainly } from '../lib/shapes/words'

export type AnyShape = Shape<unknown>

export { float, int, string as text, bool as flag, json as anything, orNull as maybe, listOf as list, dictOf as dict }

export const about = (description: string, shape: AnyShape): AnyShape => ({
  ...shape,
  schema: { ...shape.schema, description },
})

export const oneOf = <T extends string | number>(...values: readonly T[]): Shape<T> => oneNamed('value', values)

/** Exactly these fields; a name that ends in `?` may be missing. */
export const record = (fields: Readonly<Record<string, AnyShape>>): AnyShape =>
  objectOf(
    Object.fromEntries(
      Object.entries(fields).map(([name, shape]) =>
        name.endsWith('?') ? [name.slice(0, -1), optional(shape)] : [name, shape],
      ),
    ),
    { others: 'refused' },
  )

/** The code and the message of a status. */
export const status: AnyShape = record({
  code: about('0: ok, 1: bad but healing, 2: unknown, 4: bad', oneOf(0, 1, 2, 4)),
  message: string,
})

/** Why a value does not have this shape; undefined if it does. */
export function mismatch(shape: AnyShape, value: unknown): string | undefined {
  try {
    shape.parse(value)
    return undefined
  } catch (error) {
    if (error instanceof Mismatch) return plainly(error)
    throw error
  }
}
