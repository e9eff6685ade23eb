// Converts tables to objects: whole lists without parsing, on their way from the master to the client, and single rows.
import { type JsonObject, isObject } from '../../lib/shapes/shape'
import type { JsonText } from '../../rpc/long-answers'
import type { Column } from './python-writer'

/** A controller returns this instead of values. */
export class TextAnswer {
  constructor(
    readonly text: JsonText,
    /** The columns of rows that become objects; empty to show the text unchanged. */
    readonly columns: readonly Column[] = [],
  ) {}
}

export const fieldsOf = (columns: readonly Column[]): string[] => columns.map(({ field }) => field)

/** The text contains the objects. The type says so to the compiler; its interface is generated from the same list of fields. */
export const listOf = async <T>(columns: readonly Column[], text: Promise<JsonText>): Promise<T[]> =>
  new TextAnswer(await text, columns) as unknown as T[]

/** A single row as an object. */
export function objectOf<T>(columns: readonly Column[], row: readonly unknown[]): T {
  const object: JsonObject = {}
  let member: JsonObject = {}
  columns.forEach(({ key, within }, index) => {
    const value = row[index] ?? null
    if (within === true) member = { [key]: value }
    else {
      object[key] = isObject(value) ? { ...value, ...member } : value
      member = {}
    }
  })
  return object as T
}
