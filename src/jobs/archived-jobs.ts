// Archived jobs, read on demand.
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
    for (const id of (await this.ids()).reverse()) {
      const job = await this.one(id)
      if (job) yield job
    }
  }
}
