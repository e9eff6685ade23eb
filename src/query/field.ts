// How to declare a query field, and how its values are shown.
import type { Cell } from '../rpc/luxi/calls'

/** Kinds on the wire. unit is MiB, timestamp is seconds as float. */
export type FieldKind = 'bool' | 'float' | 'number' | 'other' | 'text' | 'timestamp' | 'unit'

/**
 * The cost of a field. config: free. file: reads one file for each row. live: asks every node concerned. console: asks
 * the primary nodes.
 */
export type Need = 'config' | 'file' | 'live' | 'console'

/** How `==` and the orderings compare. host also matches a short name. seconds uses the first of [s, us]. */
export type Comparison = 'plain' | 'host' | 'seconds'

export interface Field<Row> {
  readonly title: string
  readonly kind: FieldKind
  readonly doc: string
  readonly needs: Need
  readonly compare: Comparison
  /**
   * Ganeti does not have it. Queries get it by name only, so that lists of all fields stay Ganeti's; `/3` always shows
   * it.
   */
  readonly ours: boolean
  /** `/3` may show a node's last answer, without asking it. */
  readonly kept: boolean
  /** The TypeScript type of a value of the kind `other`, for the HTTP APIs' answers. The wire does not tell it. */
  readonly shape: string | undefined
  readonly get: (row: Row) => Cell
  /**
   * The part of a row that alone determines the cell, if many rows or fields share it. Rows with the same part have the
   * same cell.
   */
  readonly part?: Part<Row> | undefined
}

export type Part<Row> = (row: Row) => unknown

export type FieldTable<Row> = Readonly<Record<string, Field<Row>>>

export function field<Row>(
  title: string,
  kind: FieldKind,
  doc: string,
  get: (row: Row) => Cell,
  {
    needs = 'config',
    compare = 'plain',
    ours = false,
    kept = false,
    shape,
    part,
  }: Partial<Pick<Field<Row>, 'needs' | 'compare' | 'ours' | 'kept' | 'shape' | 'part'>> = {},
): Field<Row> {
  return { title, kind, doc, get, needs, compare, ours, kept, shape, part }
}

/** Shapes of many fields. */
export const TEXTS = 'string[]'
export const PARAMETERS = '{ [name: string]: unknown }'
export const PARAMETERS_BY_NAME = '{ [name: string]: { [name: string]: unknown } }'
export const PLAIN = 'string | number | boolean'

export const NORMAL = 0

export const cell = (value: unknown): Cell => [NORMAL, value]
export const UNKNOWN: Cell = [1, null]
export const NO_DATA: Cell = [2, null]
export const UNAVAILABLE: Cell = [3, null]
export const OFFLINE: Cell = [4, null]

/** A value that an object may lack. */
export const optional = (value: unknown): Cell =>
  value === undefined || value === null ? UNAVAILABLE : [NORMAL, value]

/** The time of a node's last answer; it may have none yet. */
export const heardCell = (heard_ms: number | undefined): Cell =>
  heard_ms === undefined ? NO_DATA : [NORMAL, heard_ms / 1000]

/** Fields of every configuration object. */
interface Stamped {
  readonly ctime?: number
  readonly mtime?: number
  readonly uuid: string
  readonly serial_no: number
}

export function stampFields<Row>(noun: string, objectOf: (row: Row) => Stamped): FieldTable<Row> {
  return {
    ctime: field('CTime', 'timestamp', 'Creation timestamp', (row) => cell(objectOf(row).ctime ?? 0)),
    mtime: field('MTime', 'timestamp', 'Modification timestamp', (row) => cell(objectOf(row).mtime ?? 0)),
    serial_no: field('SerialNo', 'number', `${noun} object serial number, incremented on each modification`, (row) =>
      cell(objectOf(row).serial_no),
    ),
    uuid: field('UUID', 'text', `${noun} UUID`, (row) => cell(objectOf(row).uuid)),
  }
}

export function tagsField<Row>(tagsOf: (row: Row) => readonly string[] | undefined): FieldTable<Row> {
  return { tags: field('Tags', 'other', 'Tags', (row) => cell([...(tagsOf(row) ?? [])].sort()), { shape: TEXTS }) }
}
