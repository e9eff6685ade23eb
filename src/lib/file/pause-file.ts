// A file with the end of a pause: one line, seconds since the epoch.
import type { Disk } from '../disk'

/** Null if the pause is over, or there was none. */
export async function pausedUntil(disk: Disk, file: string, now_s: number): Promise<number | null> {
  const until = Number((await disk.read(file))?.toString('utf8').trim() || Number.NaN)
  return Number.isFinite(until) && until > now_s ? Math.trunc(until) : null
}
