// Starts a daemon in the background, and reports whether it is ready, or why it failed.
import { spawn } from 'node:child_process'
import { isReady } from '../daemons/supervisor/child'
import { nodeFlags } from '../lib/programs/node-flags'
import { EXIT } from '../model/constants/daemons'
import type { Role } from '../roles/role'
import { PROGRAM } from './program'
import { STAY } from './start'

/** Resolves to an exit code when the daemon is ready or has ended. */
export function startInBackground({ name, frugal }: Role, args: readonly string[]): Promise<number> {
  const argv = [...nodeFlags(frugal), PROGRAM, name, ...args, '--foreground']
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    detached: true,
    cwd: '/',
  })
  // Nobody reads a background daemon's output. What it prints before it is ready goes to the waiting command.
  child.stderr?.pipe(process.stderr)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? EXIT.failure))
    child.on('message', (message) => {
      if (isReady(message)) child.send(STAY, () => resolve(EXIT.success))
    })
  })
}
