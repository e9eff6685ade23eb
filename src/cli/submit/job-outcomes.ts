// Ends of a wait for a job that are no failure of the job.
import type { JobId } from '../../rpc/luxi/calls'

/** The job is in the queue and is not waited for. */
export class JobSubmitted extends Error {
  constructor(readonly id: JobId) {
    super(`JobID: ${id}`)
  }
}

export class JobCanceled extends Error {
  constructor() {
    super('Job was canceled')
  }
}
