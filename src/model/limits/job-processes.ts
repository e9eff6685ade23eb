// Processes of jobs, from their start to their end.

/** Jobs after which a job process is replaced by a fresh one. */
export const JOBS_PER_PROCESS_MAX = 1000
/** Idle job processes that are kept for the next jobs. */
export const JOB_PROCESSES_WARM = 3
/** Job processes that are started at the same time; starting one costs as much as many short jobs. */
export const JOB_PROCESSES_STARTING_MAX = 2
/** Seconds that a job waits for a free process before another process is started for it. */
export const JOB_PROCESS_PATIENCE_S = 0.25
/**
 * Seconds in which the existing job processes should be able to take all waiting jobs; otherwise another one is
 * started.
 */
export const JOB_PROCESS_DRAIN_S = 1
/** Seconds after which an idle job process that is not needed as a warm one ends. */
export const JOB_PROCESS_IDLE_S = 30
/** Seconds to connect to the socket of a running job. */
export const JOB_CONNECT_S = 10
/** Attempts to start a job's process before the job fails. */
export const JOB_START_ATTEMPTS_MAX = 5
/** Seconds for a new job process to report that it is ready. */
export const JOB_PROCESS_START_S = 60
/** Seconds until we report that a read-only opcode runs, unless it has ended before. */
export const JOB_RUNNING_TOLD_S = 0.05
/** The longest message of a job process about its progress. */
export const JOB_PROGRESS_BYTES_MAX = 256 << 20
