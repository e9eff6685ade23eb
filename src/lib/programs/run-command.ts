// Runs a program: no shell, bounded output, bounded time, and the whole process group ends with it.
import { type ChildProcess, spawn } from 'node:child_process'
import { type Clock, systemClock, type Timer } from '../clock'
import { errorText } from '../system-failure'
import { StuckPrograms, waits } from './stuck-programs'

export interface CommandOptions {
  /** The child's environment in addition to the plain one; it inherits nothing. */
  env?: Record<string, string>
  cwd?: string
  input?: string | Buffer
  /** When they have passed, the program and its group are ended. */
  timeout_s: number
  /**
   * What it works on, such as a device; otherwise it is its command line. As long as a program for the same thing cannot be
   * ended, no other is started.
   */
  about?: string
  /** More output than this is cut at the front. Default 1 MiB. */
  maxOutput?: number
  /** Called with each piece of stdout and stderr. */
  onOutput?: (chunk: string) => void
  /** The program may ask the user at the terminal; that output is not kept. */
  interactive?: boolean
  /** Ends the program. */
  signal?: AbortSignal | undefined
  /**
   * Processes that the program leaves running in its group end with it. We do not wait for processes outside the group.
   */
  leaveNothing?: boolean
}

export interface CommandResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
  /** stdout and stderr in order of arrival. */
  output: string
  timedOut: boolean
}

/** Seconds for a killed program to be gone. */
const KILLED_S = 5

/**
 * Milliseconds without output after which we stop reading the output of a program that has ended: another process holds
 * it open.
 */
const SILENCE_MS = 1000

/** The code of a program that cannot be started. */
export const NOT_STARTED = 127

/** The environment of every program, whatever our own is. */
export const PLAIN_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LANG: 'C',
}

/** Runs a program and resolves to what it did. */
export type Run = (argv: readonly string[], options: CommandOptions) => Promise<CommandResult>

export interface BoundedResult extends CommandResult {
  /** It was ended because it printed too much. */
  readonly printedTooMuch: boolean
}

/** Like `run`, but ends a program that prints more than this, and everything that it leaves running. */
export async function runBounded(
  run: Run,
  argv: readonly string[],
  { printed_max, ...options }: CommandOptions & { readonly printed_max: number },
): Promise<BoundedResult> {
  const tooMuch = new AbortController()
  let printed = 0
  const ran = await run(argv, {
    ...options,
    leaveNothing: true,
    signal: options.signal === undefined ? tooMuch.signal : AbortSignal.any([options.signal, tooMuch.signal]),
    onOutput(chunk) {
      printed += Buffer.byteLength(chunk)
      if (printed > printed_max) tooMuch.abort()
      else options.onOutput?.(chunk)
    },
  })
  return { ...ran, printedTooMuch: tooMuch.signal.aborted }
}

export interface CommandParts {
  readonly spawn: typeof spawn
  /** A negative number means a process group. */
  kill(pid: number, signal: 'SIGKILL'): void
  readonly clock: Pick<Clock, 'after'>
}

/**
 * Never rejects for a failing program: check `code`. A program that cannot be started has code 127. One that does not end
 * in time has no code, and its output ends with a sentence about that.
 */
export function commandRunner(parts: CommandParts): Run {
  const stuck = new StuckPrograms()
  return (argv, options) => {
    const [program, ...args] = argv
    if (program === undefined) throw new Error('runCommand needs a program')
    const { about = argv.join(' ') } = options
    const refusal = stuck.refusal(program, about)
    if (refusal === undefined)
      return new Running(program, args, options, parts).run((pid) => {
        const one = { pid, program, about }
        return { why: waits(one), ended: stuck.add(one) }
      })
    return Promise.resolve({ code: null, signal: null, stdout: '', stderr: refusal, output: refusal, timedOut: true })
  }
}

export const runCommand = commandRunner({
  spawn,
  kill: (pid, signal) => void process.kill(pid, signal),
  clock: systemClock,
})

class Running {
  private readonly result = { stdout: '', stderr: '', output: '', timedOut: false }
  private readonly limit: number
  private timer: Timer | undefined

  constructor(
    private readonly program: string,
    private readonly args: readonly string[],
    private readonly options: CommandOptions,
    private readonly parts: CommandParts,
  ) {
    this.limit = options.maxOutput ?? 1 << 20
  }

  /** `onStuck` hears of a program that cannot be ended. It words that, and wants to know when the program has ended after all. */
  run(onStuck: (pid: number) => { why: string; ended: () => void }): Promise<CommandResult> {
    const { program, args, options, parts } = this
    return new Promise((resolve) => {
      const child = begin(parts.spawn, program, args, options)
      if (child instanceof Error) {
        this.add('stderr', errorText(child))
        return resolve({ ...this.result, code: NOT_STARTED, signal: null })
      }
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream]?.setEncoding('utf8').on('data', (chunk: string) => this.hear(stream, chunk))
      child.stdin?.on('error', () => undefined).end(options.input ?? '')
      const finish = (code: number | null, signal: NodeJS.Signals | null) => {
        this.timer?.cancel()
        options.signal?.removeEventListener('abort', stop)
        resolve({ code, signal, ...this.result })
      }
      const giveUp = () => {
        const { why, ended } = onStuck(child.pid ?? 0)
        child.once('exit', ended)
        child.unref()
        this.add('stderr', `${why}\n`)
        finish(null, null)
      }
      const stop = () => {
        this.kill(child)
        // A child in a group of its own would keep them open.
        child.stdout?.destroy()
        child.stderr?.destroy()
        this.timer?.cancel()
        this.timer = parts.clock.after(KILLED_S * 1000, giveUp)
      }
      this.timer = parts.clock.after(options.timeout_s * 1000, () => {
        this.result.timedOut = true
        this.add('stderr', `\n${program} was ended, because it took longer than ${options.timeout_s} s\n`)
        stop()
      })
      child.on('error', (error) => {
        this.hear('stderr', errorText(error))
        finish(NOT_STARTED, null)
      })
      child.on('close', finish)
      if (options.leaveNothing)
        child.once('exit', () => {
          this.kill(child)
          listenOn(child, stop)
        })
      if (options.signal?.aborted) stop()
      else options.signal?.addEventListener('abort', stop, { once: true })
    })
  }

  private hear(stream: 'stdout' | 'stderr', chunk: string): void {
    this.add(stream, chunk)
    this.options.onOutput?.(chunk)
  }

  private add(stream: 'stdout' | 'stderr', text: string): void {
    this.result[stream] = (this.result[stream] + text).slice(-this.limit)
    this.result.output = (this.result.output + text).slice(-this.limit)
  }

  private kill({ pid }: ChildProcess): void {
    if (pid === undefined) return
    try {
      this.parts.kill(this.options.interactive ? pid : -pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A process that has left the group may hold the output open for ever. */
function listenOn({ stdout, stderr }: ChildProcess, stop: () => void): void {
  let received = true
  const hear = () => void (received = true)
  for (const stream of [stdout, stderr]) stream?.on('data', hear)
  const look = () => {
    if (stdout?.destroyed !== false && stderr?.destroyed !== false) return
    if (!received) return stop()
    received = false
    // First read the data that arrived while this process was busy.
    setTimeout(() => setImmediate(look), SILENCE_MS).unref()
  }
  look()
}

/** Returns an error for arguments and variables that no program can get, such as ones with a NUL. */
function begin(start: typeof spawn, program: string, args: readonly string[], options: CommandOptions) {
  try {
    return start(program, args, {
      cwd: options.cwd,
      env: { ...PLAIN_ENVIRONMENT, ...options.env },
      stdio: ['pipe', 'pipe', options.interactive ? 'inherit' : 'pipe'],
      // In its own process group, the program has no terminal.
      detached: !options.interactive,
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
