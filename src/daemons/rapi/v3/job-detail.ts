// One job as /3 shows it: its opcodes one by one, each with state, times, result, error and log.
import { isObject } from '../../../opcodes/check'

/** A line of a job's log. */
export interface JobLogLine {
  /** Counts all lines of the job. */
  serial: number
  /** Seconds since the epoch. @isDouble */
  time: number
  /** `message` for text. */
  type: string
  message: unknown
}

/** Why an opcode failed. */
export interface JobError {
  /** The kind of error, as `OpPrereqError`. */
  class: string
  message: string
  /** As the cluster has it. */
  args: unknown[]
}

/** An opcode of a job, and how it went. `result` is what its `OP_ID` says; null until it has succeeded. */
export interface JobOperation {
  OP_ID: string
  summary: string
  status: string
  priority: number
  /** Seconds since the epoch; null while it has not happened. @isDouble */
  started: number | null
  /** When its locks were held and it really began. @isDouble */
  executed: number | null
  /** @isDouble */
  ended: number | null
  result: unknown
  error: JobError | null
  log: JobLogLine[]
  /** The opcode with its parameters; secrets are left out. */
  input: { [parameter: string]: unknown }
}

/** A job. */
export interface JobDetail {
  id: number
  /** `queued`, `waiting`, `canceling`, `running`, `canceled`, `success` or `error`. */
  status: string
  priority: number
  archived: boolean
  /** Seconds since the epoch; null while it has not happened. @isDouble */
  received: number | null
  /** @isDouble */
  started: number | null
  /** @isDouble */
  ended: number | null
  ops: JobOperation[]
}

export const JOB_DETAIL: readonly string[] = [
  'id',
  'status',
  'priority',
  'archived',
  'received_ts',
  'start_ts',
  'end_ts',
  'ops',
  'summary',
  'opstatus',
  'oppriority',
  'opstart',
  'opexec',
  'opend',
  'opresult',
  'oplog',
]

export function jobDetail(row: Readonly<Record<string, unknown>>): JobDetail {
  return {
    id: Number(row['id']),
    status: String(row['status']),
    priority: Number(row['priority']),
    archived: row['archived'] === true,
    received: moment(row['received_ts']),
    started: moment(row['start_ts']),
    ended: moment(row['end_ts']),
    ops: listOf(row['ops']).map((input, index) => operation(row, input, index)),
  }
}

function operation(row: Readonly<Record<string, unknown>>, input: unknown, index: number): JobOperation {
  const at = (field: string): unknown => listOf(row[field])[index] ?? null
  const parameters = isObject(input) ? input : {}
  const status = String(at('opstatus'))
  return {
    OP_ID: String(parameters['OP_ID']),
    summary: String(at('summary')),
    status,
    priority: Number(at('oppriority')),
    started: moment(at('opstart')),
    executed: moment(at('opexec')),
    ended: moment(at('opend')),
    result: status === 'success' ? at('opresult') : null,
    error: status === 'success' ? null : errorOf(at('opresult')),
    log: listOf(at('oplog')).flatMap(logLine),
    input: parameters,
  }
}

function errorOf(result: unknown): JobError | null {
  if (result === null) return null
  const [name, args] = Array.isArray(result) ? result : ['OpExecError', [result]]
  const list = listOf(args)
  return { class: String(name), message: String(list[0] ?? name), args: [...list] }
}

function logLine(entry: unknown): JobLogLine[] {
  if (!Array.isArray(entry)) return []
  const [serial, time, type, message]: unknown[] = entry
  return [{ serial: Number(serial), time: moment(time) ?? 0, type: String(type), message }]
}

/** `[seconds, microseconds]` as seconds. */
function moment(value: unknown): number | null {
  const [second, micro = 0] = listOf(value)
  return typeof second === 'number' && typeof micro === 'number' ? second + micro / 1e6 : null
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
