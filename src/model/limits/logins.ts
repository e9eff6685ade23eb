// Passwords and tokens of the remote API, and those who guess them.

/** Wrong passwords and tokens of one address, and for one user, after which the next ones wait before they are looked at. */
export const LOGIN_FAILURES_FREE = 5
/** Seconds that each of these costs, */
export const LOGIN_DELAY_S_MAX = 3
/** and that one waits at most; when more wait already, it is refused. */
export const LOGIN_WAIT_S_MAX = 10
/** Seconds after which the wrong passwords of an address or for a user are forgotten. */
export const LOGIN_MEMORY_S = 300
/** Logins that are known again without passing through all of the check. */
export const LOGINS_KEPT_MAX = 1000
/** Addresses and users whose wrong passwords are remembered, and users with addresses from which they have logged in. */
export const LOGIN_ADDRESSES_MAX = 10_000
/** Tokens of all users together, and of one. */
export const TOKENS_MAX = 1000
export const TOKENS_PER_USER_MAX = 200
/** Seconds without a request after which a session of the console ends, and after which it ends however much it is used. */
export const SESSION_IDLE_S = 1800
export const SESSION_S_MAX = 12 * 3600
/** Sessions of all users together, and of one; beyond them the one that was not used for longest ends. */
export const SESSIONS_MAX = 1000
export const SESSIONS_PER_USER_MAX = 20
/** Users whom an error names of those that there are. */
export const USERS_TOLD_MAX = 10
/** Seconds to wait until a token that was written is seen. */
export const TOKEN_SEEN_S = 5
