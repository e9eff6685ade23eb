// How long measured values stay fresh: nodes measure once a minute, and no event announces it.
export const MEASURED = { refetchInterval: 60_000 } as const
