// Consoles of instances in browsers: their number, their stored output, and their time limits.

/** Consoles open at the same time: of all users, and of one. */
export const CONSOLES_MAX = 200
export const CONSOLES_PER_USER_MAX = 25
/** Consoles that one node serves at the same time. */
export const NODE_CONSOLES_MAX = 200
/** Seconds that a ticket is valid; unused tickets of all users, and of one. */
export const CONSOLE_TICKET_S = 30
export const CONSOLE_TICKETS_MAX = 1000
export const CONSOLE_TICKETS_PER_USER_MAX = 50
/** Seconds between two checks that the user of an open console still has access. */
export const CONSOLE_CHECK_S = 3
/** The longest message of a console; the same as of a websocket. */
export const CONSOLE_MESSAGE_BYTES_MAX = 64 << 10
/** Bytes of a serial line's last output that a new viewer gets; and the number of unused lines whose output we keep. */
export const SERIAL_KEPT_BYTES = 64 << 10
export const SERIAL_LINES_KEPT_MAX = 64
/** Seconds between two checks for a stopped instance, if the node does not notify us of its start. */
export const CONSOLE_LOOK_S = 10
/** Seconds from a notification to the check. */
export const CONSOLE_SETTLE_S = 0.05
/** Seconds for a screen's handshake. */
export const SCREEN_HANDSHAKE_S = 10
/** Seconds until an unreachable node is tried again: the first pause, and the longest one of a growing series. */
export const CONSOLE_RETRY_FIRST_S = 0.5
export const CONSOLE_RETRY_LAST_S = 10
