// The remote API: its answers and waits. `http.ts` has the bounds of requests and connections.

/** Bytes of an answer that are converted to RAPI's form before the event loop serves others. */
export const RAPI_BYTES_AT_ONCE = 32 << 10
/** Shorter answers are sent in one piece. */
export const RAPI_SHORT_BYTES_MAX = 64 << 10
/** Seconds after which a reader that takes nothing of a long answer is disconnected. */
export const RAPI_STALLED_S = 60
/** Seconds that one wait for a job's change may last. */
export const RAPI_JOB_CHANGE_S = 10
/** Seconds of one wait for the end of a job; the request goes on waiting until the client leaves. */
export const RAPI_JOB_RESULT_S = 60
/** The newest jobs, whose times are in the metrics. */
export const METRICS_JOBS_MAX = 500
