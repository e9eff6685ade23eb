// Queries and lists: bounds of their filters, and the amount of work before the event loop serves others.

/** Nodes whose answers are read before the event loop serves others. */
export const NODES_READ_AT_ONCE = 100
/** Cells of a table that are worked out, written or read before the event loop serves others: some two milliseconds. */
export const CELLS_AT_ONCE = 2500
/** Rows of a table that are found, filtered or given live data before the event loop serves others. */
export const ROWS_AT_ONCE = 500
/** Jobs that are made ready to be shown before the event loop serves others. */
export const JOBS_AT_ONCE = 500
/** Files of jobs that are read at the same time for an answer. */
export const JOB_FILES_READ_AT_ONCE = 50
/** Entries of a list that the remote API writes at once. */
export const ENTRIES_AT_ONCE = 100
/** Levels of a query filter. */
export const FILTER_DEPTH_MAX = 64
/** Conditions and operators of a query filter; a plain list of names may be longer. */
export const FILTER_CONDITIONS_MAX = 2_000
