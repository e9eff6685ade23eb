// Results of a job for a request that waits.
import { errorFromWire } from '../../model/errors'
import type { JobId } from '../../rpc/luxi/calls'
import type { RapiContext } from './context'
import { HttpError } from '../../http/errors'
import { RAPI_JOB_RESULT_S } from '../../model/limits/rapi'

/** The result of each opcode; throws the error of the one that failed. */
export async function jobResult(context: RapiContext, job: JobId): Promise<readonly unknown[]> {
  let observed: readonly unknown[] | null = null
  while (!context.signal.aborted) {
    const change = await context.services.master.waitForJobChange(
      job,
      ['status', 'opresult'],
      observed,
      null,
      RAPI_JOB_RESULT_S,
    )
    if (change === 'nochange') continue
    const [fields] = change
    observed = fields
    const [status, results] = fields
    const list: unknown[] = Array.isArray(results) ? results : []
    if (status === 'success') return list
    if (status === 'error') throw errorFromWire(list.find(Array.isArray) ?? ['OpExecError', ['Job failed']])
    if (status === 'canceled') throw new HttpError(500, `Job ${job} was canceled`)
  }
  throw new HttpError(500, 'The client has left')
}
