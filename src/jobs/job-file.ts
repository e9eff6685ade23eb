// Ganeti's job file: JSON. Python writes it with blanks after commas and colons and a newline at the end, Haskell
// without. We read both, and write the compact form in the order of Ganeti's luxid.
import type { Timestamp } from '../lib/clock'
import { JobFileCorrupted } from '../model/errors'
import type { LogEntry, WireOpCode } from '../rpc/luxi/calls'
import type { Job, JobOp, OpStatus } from './job'

const STATUSES: readonly string[] = ['queued', 'waiting', 'canceling', 'running', 'canceled', 'success', 'error']

export function encodeJob(job: Job): string {
  const file: Record<string, unknown> = {
    id: job.id,
    ops: job.ops.map(encodeOp),
    received_timestamp: job.received_timestamp,
    start_timestamp: job.start_timestamp,
    end_timestamp: job.end_timestamp,
  }
  if (job.livelock !== undefined) file['livelock'] = job.livelock
  if (job.process_id !== undefined) file['process_id'] = job.process_id
  return JSON.stringify(file)
}

function encodeOp(op: JobOp): Record<string, unknown> {
  return {
    input: op.input,
    status: op.status,
    result: op.result ?? null,
    log: op.log,
    priority: op.priority,
    start_timestamp: op.start_timestamp,
    exec_timestamp: op.exec_timestamp,
    end_timestamp: op.end_timestamp,
  }
}

/** Throws JobFileCorrupted that names the mistake. */
export function parseJob(text: string): Job {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new JobFileCorrupted('job file is not JSON')
  }
  const file = record(json, 'job file')
  const id = file['id']
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 1) throw new JobFileCorrupted('job file has no valid id')
  const ops = file['ops']
  if (!Array.isArray(ops)) throw new JobFileCorrupted(`file of job ${id} has no list of opcodes`)
  const { livelock, process_id } = file
  return {
    id,
    ops: ops.map((op: unknown, index) => parseOp(op, `opcode ${index} of job ${id}`)),
    received_timestamp: parseTimestamp(file['received_timestamp']),
    start_timestamp: parseTimestamp(file['start_timestamp']),
    end_timestamp: parseTimestamp(file['end_timestamp']),
    ...(typeof livelock === 'string' ? { livelock } : {}),
    ...(typeof process_id === 'number' ? { process_id } : {}),
  }
}

function parseOp(json: unknown, what: string): JobOp {
  const op = record(json, what)
  const { status, log, priority } = op
  if (!isStatus(status)) throw new JobFileCorrupted(`${what} has no valid status`)
  return {
    input: parseInput(op['input'], what),
    status,
    result: op['result'] ?? null,
    log: Array.isArray(log) ? log.filter(isLogEntry) : [],
    priority: typeof priority === 'number' ? priority : 0,
    start_timestamp: parseTimestamp(op['start_timestamp']),
    exec_timestamp: parseTimestamp(op['exec_timestamp']),
    end_timestamp: parseTimestamp(op['end_timestamp']),
  }
}

function parseInput(json: unknown, what: string): WireOpCode {
  const input = record(json, `input of ${what}`)
  const { OP_ID } = input
  if (typeof OP_ID !== 'string') throw new JobFileCorrupted(`${what} names no OP_ID`)
  return { ...input, OP_ID }
}

function record(json: unknown, what: string): Record<string, unknown> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new JobFileCorrupted(`${what} is not an object`)
  return { ...json }
}

const isStatus = (value: unknown): value is OpStatus => typeof value === 'string' && STATUSES.includes(value)

function parseTimestamp(value: unknown): Timestamp | null {
  return isTimestamp(value) ? value : null
}

const isTimestamp = (value: unknown): value is Timestamp =>
  Array.isArray(value) && value.length === 2 && typeof value[0] === 'number' && typeof value[1] === 'number'

const isLogEntry = (value: unknown): value is LogEntry =>
  Array.isArray(value) && value.length === 4 && typeof value[0] === 'number' && isTimestamp(value[1])
