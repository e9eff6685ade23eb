// Decides what the end of the jobs on which an opcode depends means for it, in Ganeti's words.
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import { type Job, type JobOp, dependenciesOf, isFinal, jobStatus } from './job'
import type { Verdict } from './runner'

export type FindJob = (id: JobId) => Promise<Job | undefined>

/** One verdict for each opcode. */
export function verdictsOf(job: Job, find: FindJob): Promise<Verdict[]> {
  return Promise.all(job.ops.map((op) => verdictOf(op, find)))
}

async function verdictOf(op: JobOp, find: FindJob): Promise<Verdict> {
  for (const [id, accepted] of dependenciesOf(op)) {
    const other = await find(id)
    if (other === undefined) return failure(`Dependency error: Job ${id} not found`)
    const status = jobStatus(other)
    if (status === 'canceled') return 'cancel'
    if (accepted.length === 0 || (isFinal(status) && accepted.includes(status))) continue
    const desired = accepted.join(', ')
    return failure(`Dependency job ${id} finished with status '${status}', not one of '${desired}' as required`)
  }
  return 'continue'
}

const failure = (text: string): Verdict => ({ error: ['OpExecError', [text]] })

/**
 * Replaces relative ids (`-1` is the previous job of the same submission) by job ids. Throws a text that names the
 * mistake.
 */
export function resolveRelative(op: WireOpCode, own: JobId): WireOpCode {
  const { depends } = op
  if (!Array.isArray(depends)) return op
  const absolute = depends.map((entry: unknown): unknown => {
    if (!Array.isArray(entry) || typeof entry[0] !== 'number') return entry
    const id = entry[0] < 0 ? own + entry[0] : entry[0]
    // A request for job 0 names a job that does not exist.
    if (entry[0] < 0 && id < 1)
      throw new RangeError(`relative job id ${entry[0]} in job ${own} points before the first job`)
    return [id, ...entry.slice(1)]
  })
  return { ...op, depends: absolute }
}

/** The opcode as the job has it. Its reason trail tells which job it became. */
export function ofJob(submitted: WireOpCode, id: JobId, index: number, now_ns: number): WireOpCode {
  const op = resolveRelative(submitted, id)
  const trail: unknown[] = Array.isArray(op['reason']) ? op['reason'] : []
  const source = `gnt:opcode:${op.OP_ID.replace(/^OP_/, '').toLowerCase()}`
  return { ...op, reason: [...trail, [source, `job=${id};index=${index}`, now_ns]] }
}
