// Values in LUXI calls and answers. `master.ts` has the calls.

/** An opcode on the wire: OP_ID, common parameters and its own, side by side. */
export type WireOpCode = { OP_ID: string } & Record<string, unknown>

export type JobId = number
export type QueryResource =
  'cluster' | 'export' | 'extstorage' | 'filter' | 'group' | 'instance' | 'job' | 'lock' | 'network' | 'node' | 'os'

/** null, or `[operator, ...operands]`. */
export type QueryFilter = null | readonly unknown[]

export interface FieldDefinition {
  name: string
  title: string
  kind: string
  doc: string
}

/** `[status, value]`; value is null unless status is 0. */
export type Cell = [status: number, value: unknown]

export interface QueryResult {
  fields: FieldDefinition[]
  data: Cell[][]
}

/** `[serial, [seconds, microseconds], type, message]` */
export type LogEntry = [serial: number, time: [number, number], type: string, message: unknown]

export type JobChange = [fields: unknown[], log: LogEntry[]]
