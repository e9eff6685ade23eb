// Processes of ours that survive the node daemon: it finds them again by the file with their number.
import type { Files } from '../lib/files'

/** Undefined if it is gone; another process, whose command does not have this word, may then have its number. */
export async function ownProcess(files: Files, pidFile: string, word: string): Promise<number | undefined> {
  try {
    const pid = Number(await files.readFile(pidFile, 'utf8'))
    const stat = await files.readFile(`/proc/${pid}/stat`, 'utf8')
    const command = await files.readFile(`/proc/${pid}/cmdline`, 'utf8')
    const zombie = stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
    return !zombie && command.includes(word) ? pid : undefined
  } catch {
    return undefined
  }
}
