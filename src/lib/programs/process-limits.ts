// Checks the limits that a daemon was started with. Node raises its soft limit of open files to the hard one by itself;
// only the daemon's parent can raise the hard one.
import { LIMIT, type Limit, processLimit } from '../system-failure'

/** The process could not do its work at all. */
export class LimitTooLow extends Error {}

interface Need {
  readonly least: number
  readonly enough: number
}

/** Returns warnings about limits that may cause failures later. Throws if the process could not work at all. */
export function checkLimits(
  needs: Readonly<Record<keyof typeof LIMIT, Need>>,
  limitOf: (limit: Limit) => number | undefined = processLimit,
): string[] {
  return [...tooLow(LIMIT.files, needs.files), ...tooLow(LIMIT.processes, needs.processes)]

  function tooLow(limit: Limit, { least, enough }: Need): string[] {
    const has = limitOf(limit)
    if (has === undefined || has >= enough) return []
    const raise = `raise the limit where it is started (${limit.command}, or ${limit.setting}=${enough} of its unit)`
    if (has < least)
      throw new LimitTooLow(`This process may have ${has} ${limit.what} and needs at least ${least}: ${raise}`)
    return [`This process may have ${has} ${limit.what}; with less than ${enough} it may fail under load: ${raise}`]
  }
}
