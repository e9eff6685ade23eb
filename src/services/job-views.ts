// Jobs as queries read them: the file's content and what follows from it. A job does not change, so its view is made once.
import { type Job, jobPriority, jobStatus } from '../jobs/job'
import type { JobQueue } from '../jobs/queue'
import type { JobReader, JobView } from '../query/source'

const views = new WeakMap<Job, JobView>()

export function jobView(job: Job, archived: boolean): JobView {
  const known = views.get(job)
  if (known !== undefined && known.archived === archived) return known
  const view = { ...job, status: jobStatus(job), priority: jobPriority(job), archived }
  views.set(job, view)
  return view
}

export function jobReader(queue: JobQueue): JobReader {
  return {
    async all({ archived }) {
      const live = queue.all().map((job) => jobView(job, false))
      if (!archived) return live
      return [...(await queue.archived.all()).map((job) => jobView(job, true)), ...live]
    },
    async one(id) {
      const live = queue.job(id)
      if (live) return jobView(live, false)
      const old = await queue.archived.one(id)
      return old && jobView(old, true)
    },
  }
}
