// Node's options for other processes of ours: those of this process, such as a profiler's, and two that save memory in
// processes with little work.

/** Bounds the memory for new objects. V8 lets it grow to tens of megabytes under load, and returns little of it. */
const YOUNG = '--max-semi-space-size='
/**
 * How many bytes of a function's code must have run before V8 optimizes it. The optimizer takes some three megabytes as
 * soon as it runs once. By V8's own measure an idle daemon gets there within a minute.
 */
const HOT = '--interrupt-budget='

export interface Frugal {
  readonly young_mib: number
  readonly hot_bytes: number
}

/** `frugal` undefined: no bound, for processes that make long lists, which would become slower. */
export function nodeFlags(frugal: Frugal | undefined, own: readonly string[] = process.execArgv): string[] {
  const inherited = own.filter((flag) => !flag.startsWith(YOUNG) && !flag.startsWith(HOT))
  if (frugal === undefined) return inherited
  return [...inherited, `${YOUNG}${frugal.young_mib}`, `${HOT}${frugal.hot_bytes}`]
}
