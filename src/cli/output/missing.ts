// Requested objects that do not exist.
import type { Call } from '../command'
import { EXIT } from '../outcome'
import { isNamed } from './data'

/** Names the missing objects on stderr. Returns the exit code. */
export function tellMissing({ args, terminal }: Call, kind: string, found: readonly unknown[]): number {
  if (found.length >= new Set(args).size) return EXIT.ok
  const names = found.map(String)
  const missing = args.filter((arg) => !names.some((name) => isNamed(name, arg)))
  for (const name of missing) terminal.err(`${kind} ${name} not found`)
  return missing.length === 0 ? EXIT.ok : EXIT.failure
}
