// Carries out a solution: one set of jobs after the other. An interruption ends it after the running set.
import type { Master } from '../../rpc/luxi/master'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { submitJobs, waitForJobs } from './jobs'
import { type Context, failure } from './context'

export interface JobSet {
  readonly title: string
  readonly jobs: readonly (readonly WireOpCode[])[]
}

/** The exit code. */
export async function execute(master: Master, sets: readonly JobSet[], surroundings: Context): Promise<number> {
  const interrupted = surroundings.interruption(() => {
    surroundings.out('Cancel request registered, will exit at the end of the current job set...\n')
  })
  const done: string[] = []
  for (const [at, { title, jobs }] of sets.entries()) {
    if (interrupted()) {
      const left = sets.slice(at).map((set) => `${set.title}\n`)
      surroundings.out(`Exiting early due to user request, \n${done.length}jobset(s) submitted: \n${done.join('')}`)
      surroundings.out(`${left.length} jobset(s) not submitted:\n${left.join('')}`)
      return 0
    }
    const ids = await submitJobs(master, jobs)
    surroundings.out(`Got job IDs ${ids.join(', ')}\n`)
    const ends = await waitForJobs(master, ids)
    const failed = ends.filter(({ status }) => status !== 'success')
    if (failed.length > 0) {
      const list = failed.map(({ id, status }) => `job ${id}: ${status}`).join(', ')
      throw failure(`Not all jobs completed successfully: ${list}\nAborting.\n`)
    }
    done.push(`${title}: ${ends.map(({ id, status }) => `job ${id} ${status}`).join(', ')}\n`)
  }
  return 0
}
