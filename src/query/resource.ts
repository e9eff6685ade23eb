// A kind of object that can be queried: its rows and its fields.
import type { FieldTable, Need } from './field'
import type { QuerySource } from './source'

/** One kind of thing that can be queried: its fields, and how its rows are found and given live data. */
export interface Resource<Row> {
  readonly nameField: string
  readonly fields: FieldTable<Row>
  /** All rows in their natural order. */
  all(source: QuerySource, needs: ReadonlySet<Need>, fields: ReadonlySet<string>): Promise<Row[]> | Row[]
  /** The row of one name, or undefined when there is no such thing. Absent where names only filter. */
  find?(source: QuerySource, name: string): Promise<Row | undefined> | Row | undefined
  /** Refuses a name that `find` does not know. Absent where an unknown name is simply not listed. */
  notFound?(name: string): Error
  /** The rows with what fields that need a file show; called for some rows at a time, which are not kept. */
  read?(rows: readonly Row[], source: QuerySource): Promise<Row[]>
  /** Fills the live part of rows; every node is asked at the same time. `named` when the rows were asked by name. */
  collect?(rows: readonly Row[], source: QuerySource, needs: ReadonlySet<Need>, named: boolean): Promise<void>
}
