// Jobs as queries read them: the data known of every job, and for single ones the file's content. An unchanged job
// keeps its view.
import { type Job, jobPriority, jobStatus } from '../../jobs/job'
import type { JobQueue } from '../../jobs/queue'
import { mapInSlices } from '../../lib/work/slices'
import { eachBounded } from '../../lib/work/bounded'
import { JOB_FILES_READ_AT_ONCE, JOBS_AT_ONCE } from '../../model/limits/queries'
import { ARCHIVED_LISTED_MAX } from '../../model/limits/queue'
import { withoutInternalMarks, withoutMarks } from '../../model/marks'
import { redactPrivate } from '../../opcodes/summary'
import { type EndedJob, objectsOfJob, opSummary, tokensOf } from '../../jobs/ended-jobs'
import type { JobOutline, JobReader, JobView } from '../../query/source'
import type { WireOpCode } from '../../rpc/luxi/calls'

const views = new WeakMap<Job, JobView>()

/** A job without our own entries in its reason trail; Ganeti's clients do not know them. */
export function jobView(job: Job, archived: boolean): JobView {
  const known = views.get(job)
  if (known !== undefined && known.archived === archived) return known
  const view = viewOf(job, archived, withoutMarks)
  views.set(job, view)
  return view
}

/** A job with its submitter, for our own doors. */
export const markedView = (job: Job, archived: boolean): JobView => viewOf(job, archived, (input) => input)

/** What costs much is made when somebody reads it: most ask for states and results only. */
function viewOf(job: Job, archived: boolean, displayed: (input: WireOpCode) => WireOpCode): JobView {
  const ops = job.ops.map((op) => {
    const input = once(() => displayed(withoutInternalMarks(redactPrivate(op.input))))
    return {
      ...op,
      get input() {
        return input()
      },
    }
  })
  const [objects, tokens] = [once(() => objectsOfJob(job)), once(() => tokensOf(job))]
  return {
    ...{ ...job, ops, status: jobStatus(job), priority: jobPriority(job), archived },
    get objects() {
      return objects()
    },
    get tokens() {
      return tokens()
    },
  }
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

export function jobReader(queue: JobQueue, viewOf: typeof jobView): JobReader {
  return {
    async all({ archived }) {
      const live = await mapInSlices(queue.all(), JOBS_AT_ONCE, (job) => outline(job, false))
      if (!archived) return live
      const old: JobOutline[] = []
      await eachBounded(
        (await queue.archived.ids()).slice(-ARCHIVED_LISTED_MAX),
        JOB_FILES_READ_AT_ONCE,
        async (id) => {
          const job = await queue.archived.one(id)
          if (job) old.push(outline(job, true))
        },
      )
      return [...old, ...live]
    },
    known(id) {
      const job = queue.known(id)
      return job && outline(job, false)
    },
    async one(id) {
      const job = await queue.find(id)
      return job && viewOf(job, queue.known(id) === undefined)
    },
  }
}

const outlines = new WeakMap<Job | EndedJob, JobOutline>()

function outline(job: Job | EndedJob, archived: boolean): JobOutline {
  const known = outlines.get(job)
  if (known !== undefined && known.archived === archived) return known
  const { id, received_timestamp, start_timestamp, end_timestamp } = job
  const ops = isWhole(job) ? job.ops.map(opSummary) : job.ops
  const state = { status: jobStatus(job), priority: isWhole(job) ? jobPriority(job) : 0, archived }
  const about = { objects: objectsOfJob(job), tokens: tokensOf(job) }
  const made = { id, ops, received_timestamp, start_timestamp, end_timestamp, ...state, ...about }
  if (isWhole(job)) outlines.set(job, made)
  return made
}

const isWhole = (job: Job | EndedJob): job is Job => !('tokens' in job)
