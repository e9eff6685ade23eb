// Takes over jobs that only candidates have. None of them runs.
import { timestamp, type Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import { slices } from '../lib/work/slices'
import { JOB_FILES_READ_AT_ONCE } from '../model/limits/queries'
import type { JobId } from '../rpc/luxi/calls'
import { isFinished, lost, type Job } from './job'
import type { LostJob } from './lost-jobs'

/** A job that the queue took over, and whether it had ended at the candidate. */
export type TakenBack = Pick<LostJob, 'id' | 'node' | 'ended'>

interface Taker {
  readonly clock: Clock
  readonly log: Log
  /** The queue's own job that has not ended. */
  open(id: JobId): Job | undefined
  /** The queue goes on with its own job of this number. */
  keepsOwn(id: JobId): boolean
  /** Resolves when it is durable. */
  take(job: Job): Promise<void>
}

export async function takeBack(jobs: readonly LostJob[], taker: Taker): Promise<TakenBack[]> {
  const taken: TakenBack[] = []
  const places = new Map<JobId, LostJob[]>()
  // A job that has ended at one candidate may be open at another one, which had fallen behind.
  for (const job of [...jobs].sort((a, b) => Number(b.ended) - Number(a.ended)))
    places.set(job.id, [...(places.get(job.id) ?? []), job])
  for (const slice of slices([...places.values()], JOB_FILES_READ_AT_ONCE))
    taken.push(...(await Promise.all(slice.map((copies) => takeOne(copies, taker)))).flat())
  for (const { id, node, ended } of taken)
    taker.log.error({ job: id, node, ended }, 'the master had lost this job, which it takes over from a candidate')
  return taken
}

/** Takes the first copy that can be taken. */
async function takeOne(copies: readonly LostJob[], taker: Taker): Promise<TakenBack[]> {
  for (const { id, node, read } of copies) {
    const found = await read()
    if (found === undefined || taker.keepsOwn(id)) continue
    const [own, ended] = [taker.open(id), isFinished(found)]
    // A number may stand for different jobs of two masters.
    if (own !== undefined && !(ended && isSame(own, found))) continue
    await taker.take(ended ? found : lost(found, node, timestamp(taker.clock)))
    return [{ id, node, ended }]
  }
  return []
}

const isSame = ({ received_timestamp: mine }: Job, { received_timestamp: others }: Job): boolean =>
  mine?.[0] === others?.[0] && mine?.[1] === others?.[1]
