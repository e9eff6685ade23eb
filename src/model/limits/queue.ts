// The job queue: its jobs, its files, and those who wait for a job.

/** Jobs that may wait in the queue; a submission beyond is refused. */
export const JOBS_QUEUED_MAX = 5000
/** Jobs of one user of the remote API that have not ended: the rest of the queue is for others. */
export const JOBS_PER_USER_MAX = 4000
/** Bytes of the opcodes of all jobs that have not ended, which are in memory. */
export const JOBS_BYTES_MAX = 256 << 20
/** Archived jobs of a list, the newest ones: each is a file that is read. */
export const ARCHIVED_LISTED_MAX = 10_000
/** Opcodes of one job. */
export const OPCODES_PER_JOB_MAX = 1000
/** Ids beyond the one that is needed when luxid writes which ids are taken. */
export const JOB_IDS_RESERVED = 50
/** Files of the queue that one group commit writes and replicates. */
export const QUEUE_COMMIT_FILES_MAX = 200
/** Seconds after which what is in the queue's journal reaches the files, which then are written once for all that came in that time. */
export const QUEUE_FOLD_S = 2
/** The same when so much was appended. */
export const QUEUE_JOURNAL_BYTES_MAX = 4 << 20
/**
 * While no more files than this have something in the journal, they are written at once as well, so that programs that read them see a
 * job as it is; they are not durable there yet.
 */
export const QUEUE_SEEN_FILES_MAX = 8
/** Seconds that a commit waits for what other jobs have to write. */
export const QUEUE_GATHER_S = 0.005
/** It does not wait for jobs that have been running for longer. */
export const QUEUE_GATHER_YOUNG_S = 1
/** No job is taken while the disk of the queue has less room than this: those that are taken must be able to end. */
export const QUEUE_ROOM_BYTES_MIN = 256 << 10
/** While the files cannot be written, no more is taken than this. */
export const QUEUE_UNFOLDED_BYTES_MAX = 64 << 20
/** Seconds that cancelling a job that waits in its process is waited for. */
export const JOB_CANCEL_WAIT_S = 44
/** The longest time a change of a job is waited for in one call. */
export const JOB_CHANGE_WAIT_S = 89
/** Seconds between two attempts to start a job, or to write what became of it. */
export const JOB_RETRY_S = 1
/** Log entries of one job; what comes after is not kept. */
export const JOB_LOG_ENTRIES_MAX = 20000
/** Seconds between two writes of a job's file that only bring log entries. */
export const JOB_LOG_WRITE_S = 0.2
/** The jobs that ended last are kept whole in memory: so many, and so much of their files. */
export const ENDED_JOBS_WHOLE_MAX = 500
export const ENDED_JOBS_WHOLE_BYTES_MAX = 4 << 20
/** Jobs that have ended and are not archived; with more, the oldest are archived. */
export const ENDED_JOBS_MAX = 10_000
/** Directories of the archive, of 10000 jobs each; the oldest go. */
export const ARCHIVE_DIRECTORIES_MAX = 20
/** Seconds between two looks at how many jobs there are. */
export const ENDED_JOBS_LOOK_S = 60
