// Ends of a wait that are no failures of the job.
import type { JobId } from '../../rpc/luxi/calls'

/** The job is in the queue, and the command does not wait for it. */
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
