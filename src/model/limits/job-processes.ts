// Processes of jobs, from their start to their end.

/** Jobs after which a job process is replaced by a fresh one. */
export const JOBS_PER_PROCESS_MAX = 1000
/** Idle job processes that are kept for the next jobs. */
export const JOB_PROCESSES_WARM = 3
/** Job processes that are started at the same time; starting one costs as much as many short jobs. */
export const JOB_PROCESSES_STARTING_MAX = 2
/** Seconds that a job waits for a process to become free before another one is started for it. */
export const JOB_PROCESS_PATIENCE_S = 0.25
/** Seconds in which the job processes that there are should be able to take all jobs that wait; else another one is started. */
export const JOB_PROCESS_DRAIN_S = 1
/** Seconds after which the idle job processes beyond those kept warm end. */
export const JOB_PROCESS_IDLE_S = 30
/** Seconds to connect to the socket of a running job. */
export const JOB_CONNECT_S = 10
/** Attempts to start a job's process before the job fails. */
export const JOB_START_ATTEMPTS_MAX = 5
/** Seconds that a new job process may take to say that it is there. */
export const JOB_PROCESS_START_S = 60
/** Seconds after which it is told that an opcode runs that changes nothing, when it has not ended until then. */
export const JOB_RUNNING_TOLD_S = 0.05
/** The longest message of a job process about its progress. */
export const JOB_PROGRESS_BYTES_MAX = 256 << 20
