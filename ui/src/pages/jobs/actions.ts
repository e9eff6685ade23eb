// Actions on a job and on the queue.
import type { Action } from '../../parts/action'
import { gntText } from '../../parts/gnt'
import { isOver, type Job } from '../../parts/job'
import { plainAction } from '../../parts/plain-dialog'
import { texts } from '../../texts'

const own = texts.jobs.actions
const queue = texts.jobs.queue

const path = ({ id }: Job, verb = ''): string => `/3/jobs/${id}${verb}`
const CHANGES = ['jobs']

/** The reason, if the server answers with success but has not done it. */
function notDone(answer: unknown): string | undefined {
  const {
    done,
    cancelled = done,
    message,
  } = (answer ?? {}) as { done?: boolean; cancelled?: boolean; message?: string }
  return cancelled === false ? message : undefined
}

const BASE = { changes: CHANGES, refused: notDone }

export const JOB_ACTIONS: readonly Action<Job>[] = [
  plainAction<Job>({
    ...{ ...BASE, id: 'cancel', label: own.cancel, permission: 'jobs.cancel' },
    text: ({ id }) => own.cancelText(id),
    fields: [],
    unfit: (job) => (isOver(job) ? own.over : undefined),
    request: (job) => ({
      ...{ method: 'DELETE', path: path(job), body: {} },
      gnt: gntText('job cancel --force', {}, [String(job.id)]),
    }),
  }),
  plainAction<Job>({
    ...{ ...BASE, id: 'priority', label: own.priority, permission: 'jobs.change_priority' },
    text: ({ id }) => own.priorityText(id),
    fields: ({ priority }) => [
      {
        ...{ kind: 'number', name: 'priority', label: own.priorityField, text: own.priorityHelp },
        ...{ initial: priority, min: -20, max: 19, required: true },
      },
    ],
    unfit: (job) => (isOver(job) ? own.over : undefined),
    request: (job, { priority = job.priority }) => ({
      ...{ method: 'PATCH', path: path(job), body: { priority } },
      gnt: gntText('job change-priority --force', { level: priority }, [String(job.id)]),
    }),
  }),
  plainAction<Job>({
    ...{ ...BASE, id: 'archive', label: own.archive, permission: 'jobs.archive' },
    text: ({ id }) => own.archiveText(id),
    fields: [],
    unfit: (job) => (job.archived ? own.isArchived : isOver(job) ? undefined : own.notOver),
    request: (job) => ({
      ...{ method: 'POST', path: path(job, '/archive'), body: {} },
      gnt: gntText('job archive', {}, [String(job.id)]),
    }),
  }),
]

const drain = (drained: boolean): Action<null> =>
  plainAction<null>({
    ...{ id: `drain-${drained}`, permission: 'cluster.modify', changes: ['cluster'], danger: drained },
    label: drained ? queue.drain : queue.undrain,
    text: () => (drained ? queue.drainText : queue.undrainText),
    fields: [],
    request: () => ({
      ...{ method: 'PUT', path: '/3/queue/drained', body: { drained } },
      gnt: gntText('cluster queue', {}, [drained ? 'drain' : 'undrain']),
    }),
  })

export const DRAIN = drain(true)
export const UNDRAIN = drain(false)
