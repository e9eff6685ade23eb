// Archived jobs, read when someone asks and kept for a while: they do not change any more.
import { ARCHIVED_JOBS_CACHED_MAX } from '../model/limits'
import type { JobId } from '../rpc/luxi/calls'
import type { Job } from './job'
import type { QueueStore } from './store'

export class ArchivedJobs {
  private readonly cache = new Map<JobId, Job>()

  constructor(private readonly store: QueueStore) {}

  add(job: Job): void {
    this.cache.delete(job.id)
    this.cache.set(job.id, job)
    const [oldest] = this.cache.keys()
    if (this.cache.size > ARCHIVED_JOBS_CACHED_MAX && oldest !== undefined) this.cache.delete(oldest)
  }

  async one(id: JobId): Promise<Job | undefined> {
    const job = this.cache.get(id) ?? (await this.store.readArchived(id))
    if (job) this.add(job)
    return job
  }

  async *newestFirst(): AsyncGenerator<Job> {
    for (const id of (await this.store.archivedIds()).reverse()) {
      const job = this.cache.get(id) ?? (await this.store.readArchived(id))
      if (job) yield job
    }
  }

  async all(): Promise<Job[]> {
    const jobs: Job[] = []
    for (const id of await this.store.archivedIds()) {
      const job = this.cache.get(id) ?? (await this.store.readArchived(id))
      if (job) jobs.push(job)
    }
    return jobs
  }
}
