// Programs that go on while whoever started them does other things, and signals to processes.
import { fork, spawn } from 'node:child_process'
import { errorCode } from './disk'

export interface Started {
  readonly pid: number
  /** Its whole standard input. */
  feed(input: string): void
}

export interface Processes {
  /** In a process group of its own and with an empty environment; all that it prints goes to an open file. */
  start(argv: readonly [program: string, ...args: string[]], output: number): Promise<Started>
  /** Starts a program of ours, which can be talked to. */
  readonly fork: typeof fork
  /** A negative number is a process group. False when there is no such process. */
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
