// A job as `/3` and all other JSON of ours show it: times as texts, and one entry for each opcode.
import { timeText } from '../lib/text/rfc3339'
import { isObject } from '../lib/shapes/shape'

/** A line of a job's log. */
interface JobLogLine {
  /** Counts all lines of the job's log. */
  serial: number
  /** @format date-time */
  time: string
  /** `message` for plain text. */
  type: string
  message: unknown
}

/** Why an opcode failed. */
interface JobError {
  /** The class of the error, such as `OpPrereqError`. */
  class: string
  message: string
  /** The arguments of the error, in the cluster's own form. */
  args: unknown[]
}

/** An opcode of a job, and how it went. Lists contain the last four properties only if the request includes them. */
interface JobOperation {
  OP_ID: string
  summary: string
  status: string
  priority: number
  /** Null until it happens. @format date-time */
  started: string | null
  /** When the opcode got its locks and began its work. @format date-time */
  executed: string | null
  /** @format date-time */
  ended: string | null
  /** Null until it has succeeded. */
  result?: unknown
  /** Null unless it has failed. */
  error?: JobError | null
  log?: JobLogLine[]
  /** The opcode with its parameters; secrets are left out. */
  input?: { [parameter: string]: unknown }
}

/** A job, in lists and alone. */
export interface Job {
  id: number
  /** `queued`, `waiting`, `canceling`, `running`, `canceled`, `success` or `error`. */
  status: string
  priority: number
  archived: boolean
  /** Null until it happens. @format date-time */
  received: string | null
  /** @format date-time */
  started: string | null
  /** @format date-time */
  ended: string | null
  ops: JobOperation[]
}

/** Parts of an opcode that may be long, so they are included only on request, and the query field of each. */
const JOB_PARTS = { result: 'opresult', error: 'opresult', log: 'oplog', input: 'ops' } as const
export type JobPart = keyof typeof JOB_PARTS
export const ALL_JOB_PARTS = Object.keys(JOB_PARTS) as readonly JobPart[]

/** The query fields from which a job is made. */
export const jobFields = (parts: readonly JobPart[]): string[] => [
  ...new Set([...FIELDS, ...parts.map((part) => JOB_PARTS[part])]),
]

const FIELDS = [
  ...['id', 'status', 'priority', 'archived', 'received_ts', 'start_ts', 'end_ts'],
  ...['opids', 'summary', 'opstatus', 'oppriority', 'opstart', 'opexec', 'opend'],
] as const

/** Makes a job from the values of `jobFields`. */
export function jobOf(row: Readonly<Record<string, unknown>>, parts: readonly JobPart[]): Job {
  return {
    id: Number(row['id']),
    status: String(row['status']),
    priority: Number(row['priority']),
    archived: row['archived'] === true,
    received: moment(row['received_ts']),
    started: moment(row['start_ts']),
    ended: moment(row['end_ts']),
    ops: listOf(row['opids']).map((OP_ID, index) => operation(row, String(OP_ID), index, parts)),
  }
}

function operation(
  row: Readonly<Record<string, unknown>>,
  OP_ID: string,
  index: number,
  parts: readonly JobPart[],
): JobOperation {
  const at = (field: string): unknown => listOf(row[field])[index] ?? null
  const status = String(at('opstatus'))
  const isDone = status === 'success'
  const make: { [Part in JobPart]: () => Partial<JobOperation> } = {
    result: () => ({ result: isDone ? at('opresult') : null }),
    error: () => ({ error: isDone ? null : errorOf(at('opresult')) }),
    log: () => ({ log: listOf(at('oplog')).flatMap(logLine) }),
    input: () => ({ input: parametersOf(at('ops')) }),
  }
  return {
    OP_ID,
    summary: String(at('summary')),
    status,
    priority: Number(at('oppriority')),
    started: moment(at('opstart')),
    executed: moment(at('opexec')),
    ended: moment(at('opend')),
    ...parts.reduce<Partial<JobOperation>>((made, part) => ({ ...made, ...make[part]() }), {}),
  }
}

const parametersOf = (input: unknown) => (isObject(input) ? input : {})

function errorOf(result: unknown): JobError | null {
  if (result === null) return null
  const [name, args] = Array.isArray(result) ? result : ['OpExecError', [result]]
  const list = listOf(args)
  return { class: String(name), message: String(list[0] ?? name), args: [...list] }
}

function logLine(entry: unknown): JobLogLine[] {
  if (!Array.isArray(entry)) return []
  const [serial, time, type, message]: unknown[] = entry
  return [{ serial: Number(serial), time: moment(time) ?? '', type: String(type), message }]
}

/** Reads `[seconds, microseconds]`. */
function moment(value: unknown): string | null {
  const [second, micro = 0] = listOf(value)
  return typeof second === 'number' && typeof micro === 'number' ? timeText(second + micro / 1e6) : null
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
