// With which options Node is started for another process of ours: those that this one was given, such as a profiler's, and a bound for
// the part of its memory where objects begin. V8 lets that grow to tens of megabytes under load and gives little of it back.
const YOUNG = '--max-semi-space-size='

/** Without a bound for what makes long lists, which would be slower. */
export function nodeFlags(young_mib: number | undefined, own: readonly string[] = process.execArgv): string[] {
  const inherited = own.filter((flag) => !flag.startsWith(YOUNG))
  return young_mib === undefined ? inherited : [...inherited, `${YOUNG}${young_mib}`]
}
