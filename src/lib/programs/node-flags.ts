// Node's options for other processes of ours: those of this process, such as a profiler's, and one that saves memory in processes with
// little work. Units of systemd have it too, so every Node that can run us must know it. bin/load.js sets what only some know.

/** Bounds the memory for new objects. V8 lets it grow to tens of megabytes under load, and returns little of it. */
const YOUNG = '--max-semi-space-size='

export interface Frugal {
  readonly young_mib: number
  /** For bin/load.js. */
  readonly hot_bytes: number
}

/** `frugal` undefined: no bound, for processes that make long lists, which would become slower. */
export function nodeFlags(frugal: Frugal | undefined, own: readonly string[] = process.execArgv): string[] {
  const inherited = own.filter((flag) => !flag.startsWith(YOUNG))
  if (frugal === undefined) return inherited
  return [...inherited, `${YOUNG}${frugal.young_mib}`]
}
