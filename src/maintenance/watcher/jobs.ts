// The watcher's jobs: submitted several at a time, and followed to their ends.
import { type Clock, nanoseconds } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { WATCHER_JOBS_AT_ONCE } from '../../model/limits/watcher'
import type { JobChange, JobId, WireOpCode } from '../../rpc/luxi/calls'
import type { Master } from '../../rpc/luxi/master'
import { failureIn } from '../job-failure'

export interface WantedJob {
  /** The instance, or another name for messages. */
  readonly name: string
  readonly ops: readonly WireOpCode[]
}

export interface EndedJob {
  readonly name: string
  /** Undefined if it was refused. */
  readonly job: JobId | undefined
  /** Undefined on success. */
  readonly failure: string | undefined
  readonly results: readonly unknown[]
}

type JobMaster = Pick<Master, 'submitManyJobs' | 'waitForJobChange'>

export const watcherReason = (text: string, clock: Clock): unknown[] => [['gnt:watcher', text, nanoseconds(clock)]]

/** Runs all, even if some fail. Returns results in the same order. */
export async function runJobs(master: JobMaster, jobs: readonly WantedJob[]): Promise<EndedJob[]> {
  const ended: EndedJob[] = []
  for (let at = 0; at < jobs.length; at += WATCHER_JOBS_AT_ONCE) {
    const some = jobs.slice(at, at + WATCHER_JOBS_AT_ONCE)
    const answers = await master.submitManyJobs(some.map(({ ops }) => ops))
    const follow = async ({ name }: WantedJob, index: number): Promise<EndedJob> => {
      const [ok, answer] = answers[index] ?? [false, 'the master did not answer for it']
      if (!ok) return { name, job: undefined, failure: answer, results: [] }
      return { name, job: answer, ...(await endOf(master, answer)) }
    }
    ended.push(...(await Promise.all(some.map(follow))))
  }
  return ended
}

/** Seconds that one call waits; a change of the job ends it earlier. */
const WAIT_S = 60
const FIELDS = ['status', 'opresult']

async function endOf(master: JobMaster, job: JobId): Promise<Pick<EndedJob, 'failure' | 'results'>> {
  let observed: unknown = null
  let serial: number | null = null
  try {
    for (;;) {
      const change: JobChange | 'nochange' = await master.waitForJobChange(job, FIELDS, observed, serial, WAIT_S)
      if (change === 'nochange') continue
      const [fields, log] = change
      observed = fields
      // Skips log entries that we already know.
      serial = log.at(-1)?.[0] ?? serial
      const [status, reported] = fields
      const results: unknown[] = Array.isArray(reported) ? reported : []
      if (status === 'success') return { failure: undefined, results }
      if (status === 'error' || status === 'canceled')
        return { failure: failureIn(results) ?? `it was ${status}`, results }
      if (status === null) return { failure: 'it is lost', results }
    }
  } catch (error) {
    return { failure: errorText(error), results: [] }
  }
}
