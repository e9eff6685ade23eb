// Questions to confd, and its answers (rpc/confd, daemons/confd).

/** Seconds until one of the candidates must have answered. */
export const CONFD_ANSWER_S = 10
/**
 * Seconds after which a few answers are enough. While there is none, all candidates are asked again after each such
 * time.
 */
export const CONFD_AGAIN_S = 1
/** Seconds for which we do not wait for a candidate that did not answer. */
export const CONFD_SILENT_S = 30
/** Seconds that the other candidates get once most have answered. */
export const CONFD_OTHERS_S = 0.2
/** Master candidates that get the same question. */
export const CONFD_ASKED_MAX = 6
/** Seconds that the clocks of client and server may differ. */
export const CONFD_CLOCK_S = 300
/**
 * When candidates are silent, we search for clocks that differ by up to this much: for so many candidates, with so many
 * questions between two pauses.
 */
export const CONFD_CLOCK_SEARCHED_S = 86_400
export const CONFD_CLOCKS_MAX = 32
export const CONFD_GUESSES_AT_ONCE = 64
export const CONFD_GUESSES_PAUSE_S = 0.005
/** The longest question that is read. */
export const CONFD_QUESTION_BYTES_MAX = 4096
/** The longest answer: Ganeti's clients read no more of a datagram. */
export const CONFD_ANSWER_BYTES_MAX = 61440
/** Answers that are cached until the configuration changes, and the longest one that is cached. */
export const CONFD_ANSWERS_KEPT = 256
export const CONFD_KEPT_ANSWER_CHARS = 4096
/** Questions whose senders we remember, so that nobody else can replay them. */
export const CONFD_QUESTIONS_REMEMBERED = 65536
/** Bytes of questions that the kernel may hold until we read them. */
export const CONFD_QUEUE_BYTES = 1 << 20
/**
 * Seconds between two checks for changed files, if the kernel does not notify us; and the delay after a notification.
 */
export const FILES_LOOK_S = 17
export const FILES_SETTLE_S = 0.25
