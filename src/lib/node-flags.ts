// With which options Node is started for another process of ours: those that this one was given, such as a profiler's, and two that keep
// the memory small of processes that have little to do.

/** A bound for the part of memory where objects begin. V8 lets that grow to tens of megabytes under load and gives little of it back. */
const YOUNG = '--max-semi-space-size='
/**
 * How much of a function must have run before V8 compiles it for speed, in bytes of its code. That compiler takes some three megabytes as
 * soon as it runs once, and by V8's own measure a daemon that does nothing reaches it within a minute.
 */
const HOT = '--interrupt-budget='

export interface Frugal {
  readonly young_mib: number
  readonly hot_bytes: number
}

/** Without a bound for what makes long lists, which would be slower. */
export function nodeFlags(frugal: Frugal | undefined, own: readonly string[] = process.execArgv): string[] {
  const inherited = own.filter((flag) => !flag.startsWith(YOUNG) && !flag.startsWith(HOT))
  if (frugal === undefined) return inherited
  return [...inherited, `${YOUNG}${frugal.young_mib}`, `${HOT}${frugal.hot_bytes}`]
}
