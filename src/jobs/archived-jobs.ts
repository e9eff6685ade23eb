// Archived jobs, read on demand.
import { slices } from '../lib/work/slices'
import { JOB_FILES_READ_AT_ONCE } from '../model/limits/queries'
import type { JobId } from '../rpc/luxi/calls'
import type { WholeJobs } from './ended-jobs'
import type { Job } from './job'
import type { QueueStore } from './store'

export class ArchivedJobs {
  constructor(
    private readonly store: QueueStore,
    private readonly whole: WholeJobs,
  ) {}

  /** The ids of all, oldest first. */
  ids(): Promise<JobId[]> {
    return this.store.archivedIds()
  }

  async one(id: JobId): Promise<Job | undefined> {
    return this.whole.get(id) ?? (await this.store.readArchived(id))
  }

  async *newestFirst(): AsyncGenerator<Job> {
    for (const slice of slices((await this.ids()).reverse(), JOB_FILES_READ_AT_ONCE))
      for (const job of await Promise.all(slice.map((id) => this.one(id)))) if (job) yield job
  }
}
