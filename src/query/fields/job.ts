import { ProgrammerError } from '../../model/errors'
import { opcodeSummary } from '../../opcodes/summary'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { type Comparison, type Field, type FieldKind, UNAVAILABLE, cell, field, optional } from '../field'
import type { Resource } from '../resource'
import type { JobReader, JobView, OpView, QuerySource } from '../source'

/** A job that was asked for by id may be gone; then only the id is known. */
interface JobRow {
  readonly id: number
  readonly job: JobView | undefined
}

export const jobResource: Resource<JobRow> = {
  nameField: 'id',
  async all(source, _needs, fields) {
    const jobs = await reader(source).all({ archived: fields.has('archived') })
    return jobs.map((job) => ({ id: job.id, job })).sort((a, b) => a.id - b.id)
  },
  async find(source, name) {
    const id = Number(name)
    return { id, job: await reader(source).one(id) }
  },
  fields: {
    archived: of(
      'Archived',
      'bool',
      'lives in the archive; asking for it makes the query read archived jobs too',
      (job) => cell(job.archived),
    ),
    end_ts: moment('End', 'job end [s,us]; filters compare seconds', (job) => job.end_timestamp),
    id: field('ID', 'number', 'job id', ({ id }) => cell(id)),
    opend: ops('OpCode_end', 'per opcode end [s,us]', (op) => op.end_timestamp ?? null),
    opexec: ops('OpCode_exec', 'per opcode execution start [s,us], after locking', (op) => op.exec_timestamp ?? null),
    oplog: ops('OpCode_log', 'per opcode list of [serial, [s,us], type, message]', (op) => op.log ?? []),
    oppriority: ops('OpCode_prio', 'opcode priorities', (op) => op.priority),
    opresult: ops('OpCode_result', 'opcode results', (op) => op.result ?? null),
    ops: ops('OpCodes', 'input opcodes', (op) => withoutUnset(op.input)),
    opstart: ops('OpCode_start', 'per opcode start [s,us], before locking', (op) => op.start_timestamp ?? null),
    opstatus: ops('OpCode_status', 'opcode statuses', (op) => op.status),
    priority: of('Priority', 'number', 'lowest-number priority among unfinished opcodes', (job) => cell(job.priority)),
    received_ts: moment('Received', 'job reception [s,us]; filters compare seconds', (job) => job.received_timestamp),
    start_ts: moment('Start', 'job start [s,us]; filters compare seconds', (job) => job.start_timestamp),
    status: of('Status', 'text', 'job status', (job) => cell(job.status)),
    summary: ops('Summary', 'opcode summaries', (op) => opcodeSummary(op.input)),
  },
}

function reader(source: QuerySource): JobReader {
  if (source.jobs === undefined) throw new ProgrammerError('a query of jobs needs a reader of the queue')
  return source.jobs
}

function of(
  title: string,
  kind: FieldKind,
  doc: string,
  get: (job: JobView) => ReturnType<typeof cell>,
  compare: Comparison = 'plain',
): Field<JobRow> {
  return field(title, kind, doc, ({ job }) => (job === undefined ? UNAVAILABLE : get(job)), { compare })
}

function moment(title: string, doc: string, get: (job: JobView) => unknown): Field<JobRow> {
  return of(title, 'other', doc, (job) => optional(get(job)), 'seconds')
}

function ops(title: string, doc: string, get: (op: OpView) => unknown): Field<JobRow> {
  return of(title, 'other', doc, (job) => cell(job.ops.map(get)))
}

/** Python writes unset parameters to job files as null, luxid shows only these two so. */
const SHOWN_AS_NULL: readonly string[] = ['depends', 'comment']

function withoutUnset(input: WireOpCode): WireOpCode {
  const unset = Object.keys(input).some((name) => input[name] === null && !SHOWN_AS_NULL.includes(name))
  if (!unset) return input
  const set = Object.entries(input).filter(([name, value]) => value !== null || SHOWN_AS_NULL.includes(name))
  return { ...Object.fromEntries(set), OP_ID: input.OP_ID }
}
