// Jobs that the allocation programs submit over LUXI.
import type { JobChange, JobId, WireOpCode } from '../../rpc/luxi/calls'
import type { Master } from '../../rpc/luxi/master'
import { failure } from './context'

export interface EndedJob {
  readonly id: JobId
  readonly status: string
}

export async function submitJobs(master: Master, jobs: readonly (readonly WireOpCode[])[]): Promise<JobId[]> {
  const answers = await master.submitManyJobs(jobs)
  const refused = answers.flatMap(([ok, answer]) => (ok ? [] : [answer]))
  if (refused.length > 0) throw failure(`Job submission error: ${refused.join(', ')}`)
  return answers.flatMap(([ok, answer]) => (ok ? [answer] : []))
}

export async function waitForJobs(master: Master, ids: readonly JobId[]): Promise<EndedJob[]> {
  return Promise.all(ids.map(async (id) => ({ id, status: await endOf(master, id) })))
}

/** Seconds that one call waits; the end of the job ends it earlier. */
const WAIT_S = 60

async function endOf(master: Master, id: JobId): Promise<string> {
  let observed: unknown[] | null = null
  let serial: number | null = null
  for (;;) {
    const change = await master.waitForJobChange(id, ['status'], observed, serial, WAIT_S)
    if (change === 'nochange') continue
    const [fields, log]: JobChange = change
    const [status] = fields
    if (typeof status !== 'string') throw failure(`job ${id} is lost`)
    if (['canceled', 'success', 'error'].includes(status)) return status
    observed = fields
    serial = log.reduce((last, [number]) => Math.max(last, number), serial ?? 0)
  }
}
