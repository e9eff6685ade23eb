// The programs that a master runs here over SSH: their input and output, and how they start this node's daemons.
import { spawn } from 'node:child_process'
import { systemClock as clock } from '../lib/clock'
import { thisMachine } from '../lib/machine'
import type { Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { runCommand as run } from '../lib/programs/run-command'
import { DAEMON_STOP_S } from '../model/limits/daemons'
import { ownedDisk as disk } from '../model/owners'
import { runNodeProgram } from '../bootstrap/node-programs'
import { nodeDaemons } from '../bootstrap/plain-daemons'
import { ROLES } from '../roles/table'
import { PROGRAM, processTitle } from './program'

const OPTIONS = ['--dry-run', '--debug', '--verbose', '-d', '-v']

/** Throws an Error, which the caller prints. */
export async function nodeProgram(name: string, args: readonly string[], paths: Paths): Promise<void> {
  const unknown = args.find((arg) => !OPTIONS.includes(arg))
  if (unknown !== undefined)
    throw new Error(`${name}: no arguments are expected, only ${OPTIONS.join(', ')}; not '${unknown}'`)
  const surroundings = { paths, disk, clock, random, run, input: process.stdin, startNode: () => startNode(paths) }
  await runNodeProgram(name, args.includes('--dry-run'), surroundings)
}

/** Starts this node's daemons. Running ones restart, so that they read the new files. */
async function startNode(paths: Paths): Promise<void> {
  const daemons = await nodeDaemons({ paths, disk, files: thisMachine.files, run, roles: ROLES })
  if (daemons !== undefined) return daemons.restartAll()
  const pid = Number((await disk.read(paths.pidFile('node')))?.toString('utf8'))
  // Another process may have the number by now.
  const command = (await disk.read(`/proc/${pid}/cmdline`))?.toString('utf8') ?? ''
  if (command.replace(/\0.*$/s, '') === processTitle('node', paths) && signal(pid, 'SIGTERM'))
    for (const end_ms = clock.monotonic_ms() + DAEMON_STOP_S * 1000; signal(pid, 0); await clock.sleep(100))
      if (clock.monotonic_ms() > end_ms)
        throw new Error(`the daemons of this node (process ${pid}) did not stop within ${DAEMON_STOP_S} s`)
  spawn(process.execPath, [PROGRAM, 'node'], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
