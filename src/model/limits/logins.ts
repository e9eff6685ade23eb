// Passwords and tokens of the remote API, and guesses of them.

/** Wrong logins of one address, and for one user, without a delay. */
export const LOGIN_FAILURES_FREE = 5
/** Seconds of delay for each further wrong one, */
export const LOGIN_DELAY_S_MAX = 3
/** and the longest delay; when more are waiting already, a login is refused. */
export const LOGIN_WAIT_S_MAX = 10
/** Seconds after which wrong logins of an address or user are forgotten. */
export const LOGIN_MEMORY_S = 300
/** Successful logins that we remember, to skip the full check. */
export const LOGINS_KEPT_MAX = 1000
/** Addresses and users whose wrong logins we remember, and known pairs of users and addresses. */
export const LOGIN_ADDRESSES_MAX = 10_000
/** Tokens of all users together, and of one. */
export const TOKENS_MAX = 1000
export const TOKENS_PER_USER_MAX = 200
/** Seconds after which an unused session of the console ends, and after which any session ends. */
export const SESSION_IDLE_S = 1800
export const SESSION_S_MAX = 12 * 3600
/** Sessions of all users together, and of one; beyond them the one that has been idle longest ends. */
export const SESSIONS_MAX = 1000
export const SESSIONS_PER_USER_MAX = 20
/** Existing users that an error names. */
export const USERS_TOLD_MAX = 10
/** Seconds to wait until a new token is visible. */
export const TOKEN_SEEN_S = 5
