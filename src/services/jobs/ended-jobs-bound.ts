// Bounds the queue: if it has too many ended jobs, the oldest go to the archive. Ganeti's watcher also archives by age.
// This needs neither clock nor watcher.
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { isFinished } from '../../jobs/job'
import type { JobQueue } from '../../jobs/queue'
import { ENDED_JOBS_LOOK_S, ENDED_JOBS_MAX } from '../../model/limits/queue'

interface Parts {
  readonly queue: Pick<JobQueue, 'all' | 'archive'>
  readonly clock: Clock
  readonly log: Log
}

/** Returns a function that stops this. */
export function boundEndedJobs({ queue, clock, log }: Parts, most = ENDED_JOBS_MAX): () => void {
  let closed = false
  const look = async (): Promise<void> => {
    const ended = queue.all().filter(isFinished)
    for (const { id } of ended.slice(0, Math.max(0, ended.length - most))) if (!closed) await queue.archive(id)
  }
  const lookLater = () =>
    clock.after(
      ENDED_JOBS_LOOK_S * 1000,
      () =>
        void look()
          .catch((error: unknown) => log.error({ err: error }, 'jobs that have ended cannot be archived'))
          .finally(() => {
            if (!closed) timer = lookLater()
          }),
      { background: true },
    )
  let timer = lookLater()
  return () => {
    closed = true
    timer.cancel()
  }
}
