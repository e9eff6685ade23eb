// The remote API: its answers and what it waits for; requests and connections have the bounds of http.ts.

/** Bytes of an answer that are brought into RAPI's form before the event loop serves others. */
export const RAPI_BYTES_AT_ONCE = 32 << 10
/** An answer that is shorter is sent in one piece. */
export const RAPI_SHORT_BYTES_MAX = 64 << 10
/** Seconds in which the reader of a long answer takes nothing of it, after which it is given up. */
export const RAPI_STALLED_S = 60
/** Seconds that one wait for a job's change may last. */
export const RAPI_JOB_CHANGE_S = 10
/** Seconds of one wait for the end of a job; the request goes on waiting until the client leaves. */
export const RAPI_JOB_RESULT_S = 60
/** Jobs, the newest ones, whose times are in the metrics. */
export const METRICS_JOBS_MAX = 500
