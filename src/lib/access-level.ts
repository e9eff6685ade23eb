/**
 * Which requests a daemon logs. `changes`: attempts to change something, refused requests and failures, but no
 * successful reads.
 */
export const ACCESS_LEVELS = ['none', 'changes', 'all'] as const
export type AccessLevel = (typeof ACCESS_LEVELS)[number]
