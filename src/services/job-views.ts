// Jobs as queries read them: the file's content and what follows from it. A job does not change, so its view is made once.
import { type Job, jobPriority, jobStatus } from '../jobs/job'
import type { JobQueue } from '../jobs/queue'
import { mapInSlices } from '../lib/slices'
import { JOBS_AT_ONCE } from '../model/limits'
import { withoutMarks } from '../model/marks'
import { redactPrivate } from '../opcodes/summary'
import type { JobReader, JobView } from '../query/source'

const views = new WeakMap<Job, JobView>()

/** As Ganeti's clients know it: what we note in its reason trail is for our own doors. */
export function jobView(job: Job, archived: boolean): JobView {
  const known = views.get(job)
  if (known !== undefined && known.archived === archived) return known
  const marked = markedView(job, archived)
  const view = { ...marked, ops: marked.ops.map((op) => ({ ...op, input: withoutMarks(op.input) })) }
  views.set(job, view)
  return view
}

/** With what our own doors want to know of its submission. */
export function markedView(job: Job, archived: boolean): JobView {
  const ops = job.ops.map((op) => ({ ...op, input: redactPrivate(op.input) }))
  return { ...job, ops, status: jobStatus(job), priority: jobPriority(job), archived }
}

export function jobReader(queue: JobQueue, viewOf: typeof jobView): JobReader {
  return {
    async all({ archived }) {
      const live = await mapInSlices(queue.all(), JOBS_AT_ONCE, (job) => viewOf(job, false))
      if (!archived) return live
      const old = await mapInSlices(await queue.archived.all(), JOBS_AT_ONCE, (job) => viewOf(job, true))
      return [...old, ...live]
    },
    async one(id) {
      const live = queue.job(id)
      if (live) return viewOf(live, false)
      const old = await queue.archived.one(id)
      return old && viewOf(old, true)
    },
  }
}
