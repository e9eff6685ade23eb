// A kind of object that can be queried: its rows and its fields.
import type { FieldTable, Need } from './field'
import type { QuerySource } from './source'

/** A kind of object that can be queried: its fields, how to find its rows, and how to add live data. */
export interface Resource<Row> {
  readonly nameField: string
  readonly fields: FieldTable<Row>
  /** All rows in their natural order. */
  all(source: QuerySource, needs: ReadonlySet<Need>, fields: ReadonlySet<string>): Promise<Row[]> | Row[]
  /** Returns the row of a name, or undefined. Absent if names only serve as a filter. */
  find?(source: QuerySource, name: string): Promise<Row | undefined> | Row | undefined
  /** Refuses a name that `find` does not know. Absent if unknown names are simply not listed. */
  notFound?(name: string): Error
  /** Adds the data of fields that need a file. Called for some rows at a time, which are not kept. */
  read?(rows: readonly Row[], source: QuerySource): Promise<Row[]>
  /** Adds live data to rows; all nodes are asked at the same time. `named`: whether the rows were requested by name. */
  collect?(rows: readonly Row[], source: QuerySource, needs: ReadonlySet<Need>, named: boolean): Promise<void>
}
