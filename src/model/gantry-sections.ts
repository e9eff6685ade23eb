// Names of sections of gantry.data that several parts know.

/** Bearer tokens by id. */
export const TOKENS = 'tokens'
