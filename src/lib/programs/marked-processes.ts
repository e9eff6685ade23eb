// Ends everything that a program has started, wherever it went. Processes that left its group and session still have
// the variable with which the program was started in their environment. A process that cleared or overwrote its
// environment (as a server does that shows its state in its title) cannot be recognized, and goes on.
import type { Clock } from '../clock'
import type { Machine } from '../machine'

export const MARK_VARIABLE = 'GANTRY_COMMAND'

/** Number of searches, with a pause after each: a killed process needs a moment to end, and may have started others. */
const LOOKS = 100
const PAUSE_MS = 50

/** Resolves to the processes that are left: they wait for a device, or start others faster than we can end these. */
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
    // We cannot read other users' processes, and a process may end meanwhile.
    const environment = await files.readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    if (environment.split('\0').includes(`${MARK_VARIABLE}=${mark}`)) found.push(Number(pid))
  }
  return found
}
