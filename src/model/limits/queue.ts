// The job queue: its jobs, its files, and clients that wait for a job.

/** Jobs that may wait in the queue; a submission beyond is refused. */
export const JOBS_QUEUED_MAX = 5000
/** Jobs of one remote API user that have not ended; the rest of the queue is for others. */
export const JOBS_PER_USER_MAX = 4000
/** Bytes of the opcodes of all jobs that have not ended, which are in memory. */
export const JOBS_BYTES_MAX = 256 << 20
/** Archived jobs in a list, the newest ones: each is a file to read. */
export const ARCHIVED_LISTED_MAX = 10_000
/** Opcodes of one job. */
export const OPCODES_PER_JOB_MAX = 1000
/** Spare ids that luxid reserves in advance when it needs one. */
export const JOB_IDS_RESERVED = 50
/** Files of the queue in one group commit. */
export const QUEUE_COMMIT_FILES_MAX = 200
/**
 * Seconds until the queue's journal reaches the files, each of which is then written once for all changes of that time.
 */
export const QUEUE_FOLD_S = 2
/** Bytes in the journal that reach the files earlier. */
export const QUEUE_JOURNAL_BYTES_MAX = 4 << 20
/**
 * Up to this many changed files are also written at once, so that programs that read them see the job as it is. They
 * are not durable there yet.
 */
export const QUEUE_SEEN_FILES_MAX = 8
/** Seconds that a commit waits for changes of other jobs. */
export const QUEUE_GATHER_S = 0.005
/** A commit does not wait for jobs that have run longer than this. */
export const QUEUE_GATHER_YOUNG_S = 1
/** The queue takes no jobs if its disk has less room than this, since each accepted job must be able to end. */
export const QUEUE_ROOM_BYTES_MIN = 256 << 10
/** While the files cannot be written, the queue takes no more than this. */
export const QUEUE_UNFOLDED_BYTES_MAX = 64 << 20
/** Seconds to wait for the cancelling of a job that waits in its process. */
export const JOB_CANCEL_WAIT_S = 44
/** Longest wait for a job's change in one call. */
export const JOB_CHANGE_WAIT_S = 89
/** Seconds between two attempts to start a job, or to write its outcome. */
export const JOB_RETRY_S = 1
/** Seconds for which the start of luxid waits until the end of a job that died is written. */
export const JOB_ADOPT_S = 5
/** Log entries of one job; later ones are dropped. */
export const JOB_LOG_ENTRIES_MAX = 20000
/** Seconds between two writes of a job's file that only bring log entries. */
export const JOB_LOG_WRITE_S = 0.2
/** The last ended jobs, which stay complete in memory: their number, and the bytes of their files. */
export const ENDED_JOBS_WHOLE_MAX = 500
export const ENDED_JOBS_WHOLE_BYTES_MAX = 4 << 20
/** Objects that a job is found by, and characters of one with its kind. */
export const JOB_OBJECTS_MAX = 50
export const JOB_OBJECT_CHARS_MAX = 270
/** Jobs that have ended and are not archived; with more, the oldest are archived. */
export const ENDED_JOBS_MAX = 10_000
/** Directories of the archive, of 10000 jobs each; the oldest go. */
export const ARCHIVE_DIRECTORIES_MAX = 20
/** Seconds between two checks of the number of jobs. */
export const ENDED_JOBS_LOOK_S = 60
