// Ends what a program has started, wherever it went: processes that left its group and session still have the variable in their
// environment that the program was started with. One that has cleared its environment, or written over it as a server does that shows
// its state in its title, cannot be told from others, and goes on.
import type { Clock } from './clock'
import type { Machine } from './machine'

export const MARK_VARIABLE = 'GANTRY_COMMAND'

/** Looks, with a pause after each: what is killed needs a moment, and may have started others meanwhile. */
const LOOKS = 100
const PAUSE_MS = 50

/** Resolves to the processes that are still there: they wait for a device, or start others faster than these can be ended. */
export async function endMarked(
  { files, processes }: Pick<Machine, 'files' | 'processes'>,
  clock: Pick<Clock, 'sleep'>,
  mark: string,
): Promise<number[]> {
  for (let left = LOOKS; ; left--) {
    const found = await marked(files, mark)
    if (found.length === 0 || left === 0) return found
    for (const pid of found) processes.signal(pid, 'SIGKILL')
    await clock.sleep(PAUSE_MS)
  }
}

async function marked(files: Machine['files'], mark: string): Promise<number[]> {
  const pids = (await files.readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found: number[] = []
  for (const pid of pids) {
    // Those of others cannot be read, and one that ends meanwhile is gone.
    const environment = await files.readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    if (environment.split('\0').includes(`${MARK_VARIABLE}=${mark}`)) found.push(Number(pid))
  }
  return found
}
