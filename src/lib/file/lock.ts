// Locks that we share with programs of others: flock(2), which Node does not have. The program `flock` holds the lock
// while this process keeps its standard input open. So a killed process releases it.
import { spawn } from 'node:child_process'

export interface HeldLock {
  release(): void
}

/**
 * Undefined if somebody else holds the lock for all of `wait_s` (default: no wait). On a machine without `flock` nobody
 * else takes such locks either.
 */
export type LockFile = (file: string, mode: 'shared' | 'exclusive', wait_s?: number) => Promise<HeldLock | undefined>

export const lockFile: LockFile = (file, mode, wait_s = 0) =>
  new Promise((resolve) => {
    const patience = wait_s === 0 ? '--nonblock' : `--timeout=${wait_s}`
    const command = [patience, `--${mode}`, file, 'sh', '-c', 'echo held; exec cat >/dev/null']
    const child = spawn('flock', command, { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
    const release = () => void child.stdin.end()
    child.stdin.on('error', () => undefined)
    child.stdout.once('data', () => {
      child.unref()
      child.stdout.destroy()
      resolve({ release })
    })
    child.once('error', () => resolve({ release: () => undefined }))
    child.once('exit', () => resolve(undefined))
  })
