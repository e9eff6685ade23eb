// Jobs and opcodes: states, priorities, log entry types, queue numbers.
export const JOB_STATUSES = ['queued', 'waiting', 'canceling', 'running', 'canceled', 'success', 'error'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]
export type OpStatus = JobStatus
export const JOB_STATUSES_FINAL: readonly JobStatus[] = ['canceled', 'error', 'success']
export const JOB_STATUSES_PENDING: readonly JobStatus[] = ['canceling', 'queued', 'waiting']

/** Lower is sooner. */
export const PRIORITY = { lowest: 19, low: 10, normal: 0, high: -10, highest: -20 } as const
export const PRIORITIES_AT_SUBMIT: readonly number[] = [-10, 0, 10]

export const LOG_TYPE = {
  message: 'message',
  messageList: 'message-list',
  remoteImport: 'remote-import',
  jqueueTest: 'jqueue-test',
  delayTest: 'delay-test',
} as const

export const JOB_NOT_CHANGED = 'nochange'
export const JOB_QUEUE_VERSION = 1
export const JOB_QUEUE_SIZE_HARD_LIMIT = 5000
export const JOBS_PER_ARCHIVE_DIRECTORY = 10000
export const MAX_RUNNING_JOBS = 20
export const MAX_TRACKED_JOBS = 25
/** Keys of a result that names jobs to submit or groups, of the opcodes that have one. */
export const RESULT_KEY = { jobs: 'jobs', allocatable: 'allocatable', failed: 'failed' } as const

/** The sources of a reason trail. */
export const REASON_SOURCE = {
  client: 'gnt:client',
  noded: 'gnt:daemon:noded',
  pickup: 'gnt:daemon:masterd:pickup',
  rlib2: 'gnt:library:rlib2',
  opcode: 'gnt:opcode',
  user: 'gnt:user',
  watcher: 'gnt:watcher',
} as const
