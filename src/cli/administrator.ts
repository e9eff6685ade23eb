import type { Identity } from '../rpc/luxi/gantry'

/** Whoever reaches the master's socket may do everything, in anybody's name. */
export const administrator = (user: string): Identity => ({ user, token: null, permissions: ['*'] })
