// Questions to confd.

/** Seconds until one of the asked master candidates must have answered. */
export const CONFD_ANSWER_S = 10
/** Master candidates that are asked the same. */
export const CONFD_ASKED_MAX = 6
