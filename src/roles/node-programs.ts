// What a master runs here over SSH, with a request on the standard input.
import { spawn } from 'node:child_process'
import { systemClock as clock } from '../lib/clock'
import { environmentPaths, type Paths } from '../lib/paths'
import { systemRandom as random } from '../lib/random'
import { DAEMON_STOP_S } from '../model/limits'
import { ownedDisk as disk } from '../model/owners'
import { runNodeProgram } from '../services/node-programs'
import { fail } from './common/options'
import { PROGRAM, titleOf } from './common/start'

export async function nodeProgram(name: string, args: readonly string[]): Promise<void> {
  const known = ['--dry-run', '--debug', '--verbose', '-d', '-v']
  const unknown = args.find((arg) => !known.includes(arg))
  if (unknown !== undefined) fail(`${name}: no arguments are expected, only ${known.join(', ')}; not '${unknown}'`)
  const paths = environmentPaths()
  const startNode = () => startInBackground(paths)
  await runNodeProgram(name, args.includes('--dry-run'), {
    paths,
    disk,
    clock,
    random,
    input: process.stdin,
    startNode,
  })
}

/** Daemons that run here already begin again, with what they find now. */
async function startInBackground(paths: Paths): Promise<void> {
  const pid = Number((await disk.read(paths.pidFile('node')))?.toString('utf8'))
  // Another process may have the number by now.
  const command = (await disk.read(`/proc/${pid}/cmdline`))?.toString('utf8') ?? ''
  if (command.replace(/\0.*$/s, '') === titleOf('node', paths) && signal(pid, 'SIGTERM'))
    for (const end_ms = clock.monotonic_ms() + DAEMON_STOP_S * 1000; signal(pid, 0); await clock.sleep(100))
      if (clock.monotonic_ms() > end_ms)
        fail(`the daemons of this node (process ${pid}) did not stop within ${DAEMON_STOP_S} s`)
  spawn(process.execPath, [PROGRAM, 'node'], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
