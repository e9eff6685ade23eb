// Questions to confd, and its answers (rpc/confd, daemons/confd).

/** Seconds until the first of the asked master candidates must have answered. */
export const CONFD_ANSWER_S = 10
/** Seconds after which the answers of few are enough; as long as there is none, all are asked again after each such time. */
export const CONFD_AGAIN_S = 1
/** Seconds for which one that did not answer is not waited for. */
export const CONFD_SILENT_S = 30
/** Seconds that the others get when most of the asked master candidates have answered. */
export const CONFD_OTHERS_S = 0.2
/** Master candidates that are asked the same. */
export const CONFD_ASKED_MAX = 6
/** Seconds that the clock of whoever asks may be away from that of who answers. */
export const CONFD_CLOCK_S = 300
/** Silent candidates are asked for clocks that are away so far; so many of them, with so many questions between two pauses. */
export const CONFD_CLOCK_SEARCHED_S = 86_400
export const CONFD_CLOCKS_MAX = 32
export const CONFD_GUESSES_AT_ONCE = 64
export const CONFD_GUESSES_PAUSE_S = 0.005
/** The longest question that is read. */
export const CONFD_QUESTION_BYTES_MAX = 4096
/** The longest answer: clients of Ganeti read no more of a datagram. */
export const CONFD_ANSWER_BYTES_MAX = 61440
/** Answers that are kept until the configuration changes, and the longest that is kept. */
export const CONFD_ANSWERS_KEPT = 256
export const CONFD_KEPT_ANSWER_CHARS = 4096
/** Questions of which it is remembered who asked them, so that nobody else can use them again. */
export const CONFD_QUESTIONS_REMEMBERED = 65536
/** Bytes of questions that the system may keep until they are read. */
export const CONFD_QUEUE_BYTES = 1 << 20
/** Seconds between two looks whether files have changed, where the system does not tell; and after it told, until they are read. */
export const FILES_LOOK_S = 17
export const FILES_SETTLE_S = 0.25
