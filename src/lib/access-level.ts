/** Which requests a daemon logs. `changes`: attempts to change something, refused requests and failures, but not reads that went well. */
export const ACCESS_LEVELS = ['none', 'changes', 'all'] as const
export type AccessLevel = (typeof ACCESS_LEVELS)[number]
