// With which options Node is started for another process of ours: those that this one was given, such as a profiler's, and two that keep
// the memory small of processes that have little to do.

/** A bound for the part of memory where objects begin. V8 lets that grow to tens of megabytes under load and gives little of it back. */
const YOUNG = '--max-semi-space-size='
/**
 * How much of a function must have run before V8 compiles it for speed, in bytes of its code. That compiler takes some three megabytes as
 * soon as it runs once. By V8's own measure a daemon that does nothing reaches it within a minute; by this one, whoever is under load.
 */
const HOT = '--interrupt-budget='
const HOT_BYTES = 4_000_000

/** Without a bound for what makes long lists, which would be slower. */
export function nodeFlags(young_mib: number | undefined, own: readonly string[] = process.execArgv): string[] {
  const inherited = own.filter((flag) => !flag.startsWith(YOUNG) && !flag.startsWith(HOT))
  return young_mib === undefined ? inherited : [...inherited, `${YOUNG}${young_mib}`, `${HOT}${HOT_BYTES}`]
}
