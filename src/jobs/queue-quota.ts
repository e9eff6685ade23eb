// Limits for unfinished jobs: the bytes of all, and the number of each remote API user's jobs. Commands on the master
// belong to no user. Jobs submitted by a user's job count for the user.
import { JobQueueFull } from '../model/errors'
import { JOBS_BYTES_MAX, JOBS_PER_USER_MAX } from '../model/limits/queue'
import { MARK } from '../model/marks'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import { firstMark } from './marks'

interface Taken {
  readonly user: string | null
  readonly bytes: number
}

export class QueueQuota {
  private readonly jobs = new Map<JobId, Taken>()
  private readonly byUser = new Map<string, number>()
  private bytes = 0

  constructor(private readonly bytesMax = JOBS_BYTES_MAX) {}

  /**
   * Takes room for jobs with ids from `first` on. Throws JobQueueFull and takes nothing if there is not enough for all.
   */
  take(first: JobId, submitted: readonly (readonly WireOpCode[])[]): void {
    const desired = submitted.map(takenBy)
    const bytes = desired.reduce((sum, job) => sum + job.bytes, this.bytes)
    if (bytes > this.bytesMax)
      throw new JobQueueFull(
        `Jobs that have not ended would have ${mib(bytes)} MiB, more than the ${mib(this.bytesMax)} MiB that all may have; ` +
          WAY_OUT,
      )
    for (const user of new Set(desired.map((job) => job.user))) {
      if (user === null) continue
      const count = this.countOf(user) + desired.filter((job) => job.user === user).length
      if (count > JOBS_PER_USER_MAX)
        throw new JobQueueFull(
          `The user ${user} would have ${count} jobs that have not ended, more than the ${JOBS_PER_USER_MAX} that one user may ` +
            `have; ${WAY_OUT}`,
        )
    }
    for (const [at, job] of desired.entries()) this.add(first + at, job)
  }

  /** Counts an existing job. */
  note(id: JobId, ops: readonly WireOpCode[]): void {
    this.add(id, takenBy(ops))
  }

  free(id: JobId): void {
    const job = this.jobs.get(id)
    if (job === undefined) return
    this.jobs.delete(id)
    this.bytes -= job.bytes
    if (job.user === null) return
    const left = this.countOf(job.user) - 1
    if (left === 0) this.byUser.delete(job.user)
    else this.byUser.set(job.user, left)
  }

  private add(id: JobId, job: Taken): void {
    this.free(id)
    this.jobs.set(id, job)
    this.bytes += job.bytes
    if (job.user !== null) this.byUser.set(job.user, this.countOf(job.user) + 1)
  }

  private countOf(user: string): number {
    return this.byUser.get(user) ?? 0
  }
}

const WAY_OUT = 'try again when some have ended, or cancel some'

const takenBy = (ops: readonly WireOpCode[]): Taken => ({
  user: ops[0] === undefined ? null : firstMark(ops[0], MARK.user),
  bytes: JSON.stringify(ops).length,
})

const mib = (bytes: number): number => Math.ceil(bytes / 2 ** 20)
