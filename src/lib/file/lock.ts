// Locks of files, also shared with programs of others: flock(2), which Node does not have. The program `flock` locks the file that this process
// has open, and ends. The lock is the open file's, so the kernel releases it with this process, however that ends.
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { isMissing } from '../disk'

export interface HeldLock {
  release(): void
}

/**
 * Undefined if somebody else holds the lock for all of `wait_s` (default: no wait), or if nobody can know: the file cannot be opened, or
 * `flock` cannot be started. On a machine without `flock` nobody else takes such locks either.
 */
export type LockFile = (file: string, mode: 'shared' | 'exclusive', wait_s?: number) => Promise<HeldLock | undefined>

const OPEN_FLAGS = fs.constants.O_RDWR | fs.constants.O_CREAT
const MODE = 0o600

/** More seconds than `flock` waits, in which it must have ended. */
const ANSWER_S = 10

export const lockFile: LockFile = async (file, mode, wait_s = 0) => {
  const fd = opened(file)
  if (fd === undefined) return undefined
  if (await isLocked(fd, mode, wait_s)) return { release: () => fs.closeSync(fd) }
  fs.closeSync(fd)
  return undefined
}

/** Why `lockFile` gave nothing, where that is the file and no other process. */
export function openFailure(file: string): string | undefined {
  try {
    fs.closeSync(fs.openSync(file, OPEN_FLAGS, MODE))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** A number, because Node closes a FileHandle that nobody uses any more. Strangers who could read the file could lock it. */
function opened(file: string): number | undefined {
  try {
    return fs.openSync(file, OPEN_FLAGS, MODE)
  } catch {
    return undefined
  }
}

function isLocked(fd: number, mode: string, wait_s: number): Promise<boolean> {
  const patience = wait_s === 0 ? '--nonblock' : `--timeout=${wait_s}`
  return new Promise((resolve) => {
    const child = spawn('flock', [patience, `--${mode}`, '3'], {
      stdio: ['ignore', 'ignore', 'ignore', fd],
      timeout: (wait_s + ANSWER_S) * 1000,
      killSignal: 'SIGKILL',
    })
    child.once('error', (error) => resolve(isMissing(error)))
    child.once('exit', (code) => resolve(code === 0))
  })
}
