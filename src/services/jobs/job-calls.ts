// The calls of /3 that act on existing jobs, for callers who may see them.
import { type Job, isFinished, jobStatus } from '../../jobs/job'
import { ECODE, OpPrereqError } from '../../model/errors'
import { JOB_PREFER_WAIT_S } from '../../model/limits/rapi-v3'
import type { JobId } from '../../rpc/luxi/calls'
import type { AuthorizedHandlers } from '../authorized-handlers'
import type { Access } from '../access/access'
import { seesJob } from '../events/events'
import type { JobService } from './jobs'
import type { MasterContext } from '../master-context'

export function jobCalls(
  context: MasterContext,
  jobs: JobService,
): Pick<AuthorizedHandlers, 'cancel' | 'changePriority' | 'archive' | 'wait'> {
  /** A job that the caller sees. */
  async function jobFor(caller: Access, id: JobId): Promise<Job> {
    const job = await context.queue.find(id)
    if (job === undefined || !seesJob(caller, job)) throw new OpPrereqError(`There is no job ${id}`, ECODE.NOENT)
    return job
  }

  return {
    async cancel(caller, id) {
      const job = await jobFor(caller, id)
      return isFinished(job) ? [false, ended(job, 'nothing is left to cancel')] : jobs.cancel(id, false)
    },
    async changePriority(caller, id, priority) {
      const job = await jobFor(caller, id)
      return isFinished(job) ? [false, ended(job, 'its priority is past')] : jobs.changePriority(id, priority)
    },
    async archive(caller, id) {
      const job = await jobFor(caller, id)
      if (!isFinished(job)) return [false, `Job ${id} is ${jobStatus(job)}: only a job that has ended can be archived`]
      if (await jobs.archive(id)) return [true, `Job ${id} is archived`]
      return [false, `Job ${id} is in the archive already`]
    },
    async wait(caller, id, wait_s, signal) {
      await jobFor(caller, id)
      let leave: () => void = () => undefined
      const left = new Promise<void>((resolve) => (leave = resolve))
      if (signal?.aborted) leave()
      signal?.addEventListener('abort', leave, { once: true })
      try {
        const job = await jobs.whenEnded(id, Math.min(wait_s, JOB_PREFER_WAIT_S), left)
        return job !== undefined && isFinished(job)
      } finally {
        // The connection is reused, and has many such waits.
        signal?.removeEventListener('abort', leave)
      }
    },
  }
}

const ended = (job: Job, so: string): string =>
  `Job ${job.id} has ended with status ${jobStatus(job)}, so ${so}; ` +
  `it leaves the list with POST /3/jobs/${job.id}/archive or gnt job archive ${job.id}`
