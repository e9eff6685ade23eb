// How long measured values are good: nodes measure once a minute, and no event tells of that.
export const MEASURED = { refetchInterval: 60_000 } as const
