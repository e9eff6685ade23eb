// Consoles of instances that are open in browsers: how many, how much of them is kept, and how long one waits for what.

/** Consoles that are open at the same time, of all and of one user. */
export const CONSOLES_MAX = 200
export const CONSOLES_PER_USER_MAX = 25
/** Consoles that one node serves at the same time. */
export const NODE_CONSOLES_MAX = 200
/** Seconds that a ticket is good for, and how many may wait to be used, of all and of one user. */
export const CONSOLE_TICKET_S = 30
export const CONSOLE_TICKETS_MAX = 1000
export const CONSOLE_TICKETS_PER_USER_MAX = 50
/** Seconds between two looks whether who has a console open may still do so. */
export const CONSOLE_CHECK_S = 3
/** The longest message of a console, as of a websocket. */
export const CONSOLE_MESSAGE_BYTES_MAX = 64 << 10
/** The last output of a serial line that is shown to who opens it, and of how many lines that nobody has open. */
export const SERIAL_KEPT_BYTES = 64 << 10
export const SERIAL_LINES_KEPT_MAX = 64
/** Seconds between two looks for an instance that does not run, where nothing tells of its start; */
export const CONSOLE_LOOK_S = 10
/** and after it was told, until it is looked for. */
export const CONSOLE_SETTLE_S = 0.05
/** Seconds in which a screen must get through its handshake. */
export const SCREEN_HANDSHAKE_S = 10
/** Seconds until a node is tried again that could not be reached: the first, and the last of a growing pause. */
export const CONSOLE_RETRY_FIRST_S = 0.5
export const CONSOLE_RETRY_LAST_S = 10
