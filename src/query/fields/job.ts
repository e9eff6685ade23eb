// Query fields of jobs.
import { ProgrammerError } from '../../model/errors'
import { MARK } from '../../model/marks'
import { inDeclaredOrder } from '../../opcodes/parse'
import { opcodeSummary } from '../../opcodes/summary'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { ConfigData } from '../../model/config'
import { fullObject } from '../full-names'
import { type Comparison, type Field, type FieldKind, UNAVAILABLE, cell, field, optional, TEXTS } from '../field'
import type { Resource } from '../resource'
import type { JobOutline, JobReader, JobView, OpOutline, OpView, QuerySource } from '../source'

/** A job that was requested by id may be gone; then only the id is known. */
interface JobRow {
  readonly id: number
  readonly job: JobOutline | JobView | undefined
  /** Computed only when needed. */
  readonly config: () => ConfigData
}

/** Seconds and microseconds. */
const MOMENT = 'number[]'
const MOMENTS = '(number[] | null)[]'

export const jobResource: Resource<JobRow> = {
  nameField: 'id',
  async all(source, _needs, fields) {
    const jobs = await reader(source).all({ archived: fields.has('archived') })
    return jobs.map((job) => ({ id: job.id, job, config: () => source.config })).sort((a, b) => a.id - b.id)
  },
  read(rows, source) {
    const jobs = reader(source)
    // If a job's file is unreadable, the facts outside of it are shown.
    return Promise.all(
      rows.map(async (row) => (isWhole(row.job) ? row : { ...row, job: (await jobs.one(row.id)) ?? row.job })),
    )
  },
  async find(source, name) {
    const id = Number(name)
    const jobs = reader(source)
    return { id, job: jobs.known(id) ?? (await jobs.one(id)), config: () => source.config }
  },
  fields: {
    archived: of('Archived', 'bool', 'Whether job is archived', (job) => cell(job.archived)),
    end_ts: moment(
      'End',
      'Timestamp of job end (tuple containing seconds and microseconds)',
      (job) => job.end_timestamp,
    ),
    id: field('ID', 'number', 'Job ID', ({ id }) => cell(id)),
    opend: states('OpCode_end', MOMENTS, 'List of opcode execution end timestamps', (op) => op.end_timestamp ?? null),
    opexec: states(
      'OpCode_exec',
      MOMENTS,
      'List of opcode execution start timestamps (after acquiring locks)',
      (op) => op.exec_timestamp ?? null,
    ),
    oplog: ops('OpCode_log', 'unknown[][][]', 'List of opcode output logs', (op) => op.log ?? []),
    objects: field(
      'Objects',
      'other',
      'Objects that the opcodes name, as instance/vm1, to filter by',
      ({ job, config }) =>
        job === undefined ? UNAVAILABLE : cell(job.objects.map((object) => fullObject(config(), object))),
      { ours: true, shape: TEXTS },
    ),
    oppriority: states('OpCode_prio', 'number[]', 'List of opcode priorities', (op) => op.priority),
    opresult: ops('OpCode_result', 'unknown[]', 'List of opcodes results', (op) => op.result ?? null),
    ops: ops('OpCodes', '{ [parameter: string]: unknown }[]', 'List of all opcodes', (op) => withoutUnset(op.input)),
    opstart: states(
      'OpCode_start',
      MOMENTS,
      'List of opcode start timestamps (before acquiring locks)',
      (op) => op.start_timestamp ?? null,
    ),
    opids: field(
      'OpCode_ID',
      'other',
      'List of opcode names',
      ({ job }) => (job === undefined ? UNAVAILABLE : cell(job.ops.map(opIdOf))),
      { ours: true, shape: TEXTS },
    ),
    opstatus: states('OpCode_status', TEXTS, 'List of opcodes status', (op) => op.status),
    priority: of('Priority', 'number', 'Current job priority (19 to -20)', (job) => cell(job.priority)),
    received_ts: moment(
      'Received',
      'Timestamp of when job was received (tuple containing seconds and microseconds)',
      (job) => job.received_timestamp,
    ),
    start_ts: moment(
      'Start',
      'Timestamp of job start (tuple containing seconds and microseconds)',
      (job) => job.start_timestamp,
    ),
    status: of('Status', 'text', 'Job status', (job) => cell(job.status)),
    summary: of('Summary', 'other', 'List of per-opcode summaries', (job) => cell(job.ops.map(summaryOf)), {
      shape: TEXTS,
    }),
    title: field(
      'Title',
      'text',
      'The summaries of all opcodes in one text, to filter by',
      ({ job }) => (job === undefined ? UNAVAILABLE : cell(job.ops.map(summaryOf).join(', '))),
      { ours: true },
    ),
    user: field(
      'User',
      'text',
      'Who submitted the job; empty for a command on the master',
      ({ job }) => (isWhole(job) ? cell(userOf(job)) : UNAVAILABLE),
      { ours: true, needs: 'file' },
    ),
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
  get: (job: JobOutline | JobView) => ReturnType<typeof cell>,
  more: { readonly compare?: Comparison; readonly shape?: string } = {},
): Field<JobRow> {
  return field(title, kind, doc, ({ job }) => (job === undefined ? UNAVAILABLE : get(job)), more)
}

function moment(title: string, doc: string, get: (job: JobOutline | JobView) => unknown): Field<JobRow> {
  return of(title, 'other', doc, (job) => optional(get(job)), { compare: 'seconds', shape: MOMENT })
}

/** A field whose values are facts about each opcode that are known without the job's file. */
function states(title: string, shape: string, doc: string, get: (op: OpOutline | OpView) => unknown): Field<JobRow> {
  return of(title, 'other', doc, (job) => cell(job.ops.map(get)), { shape })
}

/** A field whose values are facts about each opcode that only the job's file has. */
function ops(title: string, shape: string, doc: string, get: (op: OpView) => unknown): Field<JobRow> {
  return field(title, 'other', doc, ({ job }) => (isWhole(job) ? cell(job.ops.map(get)) : UNAVAILABLE), {
    ...{ needs: 'file', shape },
  })
}

const isWhole = (job: JobRow['job']): job is JobView =>
  job !== undefined && job.ops.every((op: OpOutline | OpView) => 'input' in op)

const summaryOf = (op: OpOutline | OpView): string => ('input' in op ? opcodeSummary(op.input) : op.summary)

const opIdOf = (op: OpOutline | OpView): string => ('input' in op ? op.input.OP_ID : op.OP_ID)

function userOf({ ops }: JobView): string {
  const trail: unknown = ops[0]?.input['reason']
  const entries: readonly unknown[] = Array.isArray(trail) ? trail : []
  const noted = entries.find((entry) => Array.isArray(entry) && entry[0] === MARK.user)
  return Array.isArray(noted) ? String(noted[1]) : ''
}

/** Python writes unset parameters to job files as null. luxid only shows these two as null, and has its own order. */
const SHOWN_AS_NULL: readonly string[] = ['depends', 'comment']

function withoutUnset(input: WireOpCode): WireOpCode {
  const unset = Object.keys(input).some((name) => input[name] === null && !SHOWN_AS_NULL.includes(name))
  if (!unset) return input
  const set = Object.entries(input).filter(([name, value]) => value !== null || SHOWN_AS_NULL.includes(name))
  return inDeclaredOrder({ ...Object.fromEntries(set), OP_ID: input.OP_ID })
}
