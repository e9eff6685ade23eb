// What an embedded cluster says to whoever started it.
import { errorCode } from '../lib/disk'

export const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** What went wrong, and what to do. */
export function explain(error: unknown, root?: string): string {
  const text = error instanceof Error ? error.message : String(error)
  if (errorCode(error) === 'ENOSPC')
    return `${text}: the disk ${root === undefined ? '' : `of ${root} `}is full; free some room, or name another --root`
  if (errorCode(error) === 'EACCES') return `${text}: name a --root that you may write`
  return text
}
