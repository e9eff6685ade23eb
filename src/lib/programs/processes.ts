// Starts programs that run in the background, and sends signals to processes.
import { fork, spawn } from 'node:child_process'
import { errorCode } from '../disk'

interface Started {
  readonly pid: number
  /** Sends its whole standard input. */
  feed(input: string): void
}

export interface Processes {
  /** Starts it in its own process group with an empty environment. Its output goes to an open file. */
  start(argv: readonly [program: string, ...args: string[]], output: number): Promise<Started>
  /** Starts a program of ours that exchanges messages with us. */
  readonly fork: typeof fork
  /** A negative number means a process group. False if there is no such process. */
  signal(pid: number, signal: NodeJS.Signals): boolean
}

export const systemProcesses: Processes = {
  fork,
  async start([program, ...args], output) {
    const child = spawn(program, args, { stdio: ['pipe', output, output], env: {}, detached: true })
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject))
    child.unref()
    return {
      pid: child.pid ?? 0,
      feed: (input) => void child.stdin?.on('error', () => undefined).end(input),
    }
  },
  signal(pid, signal) {
    try {
      return process.kill(pid, signal)
    } catch (error) {
      if (errorCode(error) === 'ESRCH') return false
      throw error
    }
  },
}
