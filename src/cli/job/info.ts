// gnt-job info.
import { pythonText } from '../../lib/text/python-text'
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { formatTimestamp } from '../output/format'
import { type Info, entries, formatInfo, toInfo } from '../output/info'
import { jobId } from './commands'

const FIELDS = [
  'id',
  'status',
  'ops',
  'opresult',
  'opstatus',
  'oplog',
  'opstart',
  'opexec',
  'opend',
  'received_ts',
  'start_ts',
  'end_ts',
] as const

type Job = ReadonlyMap<(typeof FIELDS)[number], unknown>

export async function showJobs({ args, master, terminal }: Call): Promise<number> {
  const ids = args.map(jobId)
  const rows = await master.queryJobs(ids, FIELDS)
  const jobs = rows.map((row, at): Info => {
    const job: Job = new Map(FIELDS.map((name, column) => [name, row?.[column] ?? null]))
    return job.get('status') === null ? `Job ID ${String(ids[at])} not found` : jobInfo(job)
  })
  for (const line of formatInfo(jobs)) terminal.out(line)
  return jobs.some((job) => typeof job === 'string') ? EXIT.failure : EXIT.ok
}

function jobInfo(job: Job): Info {
  const [received, start, end] = [job.get('received_ts'), job.get('start_ts'), job.get('end_ts')]
  const total = elapsed_s(received, end)
  return entries(
    ['Job ID', pythonText(job.get('id'))],
    ['Status', pythonText(job.get('status'))],
    ['Received', padded('Received', moment(received, undefined, 'Missing received timestamp'))],
    ['Processing start', moment(start, received, 'Unprocessed (no start time)')],
    ['Processing end', padded('Processing end', moment(end, start, 'Not finished'))],
    ['Total processing time', total === undefined ? 'N/A' : `${total.toFixed(6)} seconds`],
    ['Opcodes', list(job.get('ops')).map((op, at) => opInfo(job, op, at))],
  )
}

/** Aligns times in one column. */
const padded = (title: string, text: string): string => ' '.repeat('Processing start'.length - title.length) + text

function moment(timestamp: unknown, before: unknown, missing: string): string {
  if (!Array.isArray(timestamp)) return missing
  const delta = elapsed_s(before, timestamp)
  return formatTimestamp(timestamp) + (delta === undefined ? '' : ` (delta ${delta.toFixed(6)}s)`)
}

/** Exact to the microsecond, which seconds as floats are not. */
function elapsed_s(from: unknown, to: unknown): number | undefined {
  if (!Array.isArray(from) || !Array.isArray(to)) return undefined
  return ((Number(to[0]) - Number(from[0])) * 1e6 + Number(to[1]) - Number(from[1])) / 1e6
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

function opInfo(job: Job, op: unknown, at: number): Info {
  const of = (name: (typeof FIELDS)[number]) => list(job.get(name))[at]
  const id = typeof op === 'object' && op !== null && 'OP_ID' in op ? op.OP_ID : op
  return entries(
    ['Opcode', pythonText(id)],
    ['Status', pythonText(of('opstatus'))],
    ['Processing start', moment(of('opstart'), undefined, 'N/A')],
    ['Execution start', ` ${moment(of('opexec'), undefined, 'N/A')}`],
    ['Processing end', padded('Processing end', moment(of('opend'), undefined, 'N/A'))],
    ['Input fields', toInfo(op)],
    ['Result', toInfo(of('opresult'))],
    ['Execution log', list(of('oplog')).map(logInfo)],
  )
}

function logInfo(entry: unknown): Info {
  const [serial, time, type, message] = list(entry)
  return entries(
    ['Time', formatTimestamp(time)],
    ['Content', `[${[serial, type, message].map(pythonText).join(', ')}]`],
  )
}
