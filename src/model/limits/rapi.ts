// The remote API: requests, answers and connections of all its versions.

/** The longest body of a request; as in Ganeti 3.1. */
export const RAPI_BODY_BYTES_MAX = 10 << 20
/** Bodies that are longer, or do not tell their length, of which so many are read at the same time, for all and for one user. */
export const RAPI_LONG_BODY_BYTES = 256 << 10
export const RAPI_LONG_BODIES_MAX = 64
export const RAPI_LONG_BODIES_PER_USER_MAX = 16
/** Values in a body, those within others, too: a job of a thousand opcodes has some fifty thousand. */
export const RAPI_BODY_VALUES_MAX = 200_000
/** Levels of nesting in a body. */
export const RAPI_BODY_DEPTH_MAX = 100
/** Request line and headers together. */
export const RAPI_HEADER_BYTES_MAX = 16 << 10
/** Seconds for a client to send its headers, and again to send its body. */
export const RAPI_RECEIVE_S = 10
/** Requests of one connection that wait for the answers to those before them; with more it is closed. */
export const RAPI_PIPELINED_MAX = 100
/** Seconds in which a client that is hung up on may read why. */
export const RAPI_REFUSED_S = 2
/** Seconds that an idle connection is kept. */
export const RAPI_KEEP_ALIVE_S = 15
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
/** Characters of a path in the log of requests. */
export const ACCESS_LOG_PATH_CHARS_MAX = 500
/** Seconds in which requests may finish when the daemon stops. */
export const RAPI_CLOSE_S = 2
/** Connections that are open at the same time; further ones are refused. */
export const RAPI_CONNECTIONS_MAX = 1000
/** Connections of one address, and of this machine, where a proxy may stand for many clients, */
export const RAPI_CONNECTIONS_PER_CLIENT_MAX = 200
export const RAPI_CONNECTIONS_LOOPBACK_MAX = 800
/** and how many more are told so; further ones are closed at once. */
export const RAPI_CONNECTIONS_TOLD = 20
/** Seconds after which whoever was refused with 503 may try again. */
export const RETRY_AFTER_S = 5
/** Jobs, the newest ones, whose times are in the metrics. */
export const METRICS_JOBS_MAX = 500
/** Seconds until the remote API of a virtual cluster tries again to listen on the cluster's address. */
export const CLUSTER_ADDRESS_RETRY_S = 5
