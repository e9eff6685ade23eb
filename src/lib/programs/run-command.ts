// Runs a program: no shell, bounded output, bounded time, and the whole process group ends with it.
import { type ChildProcess, spawn } from 'node:child_process'
import { errorText } from '../system-failure'

export interface CommandOptions {
  /** The child's environment in addition to the plain one; it inherits nothing. */
  env?: Record<string, string>
  cwd?: string
  input?: string | Buffer
  timeout_s?: number
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
export type Run = (argv: readonly string[], options?: CommandOptions) => Promise<CommandResult>

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

/** Never rejects for a failing program: check `code`. A program that cannot be started has code 127. */
export function runCommand(argv: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
  const [program, ...args] = argv
  if (program === undefined) throw new Error('runCommand needs a program')
  const limit = options.maxOutput ?? 1 << 20
  return new Promise((resolve) => {
    const result = { stdout: '', stderr: '', output: '', timedOut: false }
    const child = begin(program, args, options)
    if (child instanceof Error) {
      const output = errorText(child)
      return resolve({ ...result, code: NOT_STARTED, signal: null, stderr: output, output })
    }
    const add = (stream: 'stdout' | 'stderr') => (chunk: string) => {
      result[stream] = (result[stream] + chunk).slice(-limit)
      result.output = (result.output + chunk).slice(-limit)
      options.onOutput?.(chunk)
    }
    child.stdout?.setEncoding('utf8').on('data', add('stdout'))
    child.stderr?.setEncoding('utf8').on('data', add('stderr'))
    child.stdin?.on('error', () => undefined).end(options.input ?? '')
    const kill = () => {
      if (child.pid === undefined) return
      try {
        process.kill(options.interactive ? child.pid : -child.pid, 'SIGKILL')
      } catch {
        // It has ended meanwhile.
      }
    }
    const stop = () => {
      kill()
      // A child in a group of its own would keep them open.
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
    if (options.leaveNothing)
      child.once('exit', () => {
        kill()
        listenOn(child, stop)
      })
    const timer = options.timeout_s === undefined ? undefined : setTimeout(expire, options.timeout_s * 1000)
    function expire() {
      result.timedOut = true
      stop()
    }
    if (options.signal?.aborted) stop()
    else options.signal?.addEventListener('abort', stop, { once: true })
    const finish = (code: number | null, signal: NodeJS.Signals | null) => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', stop)
      resolve({ code, signal, ...result })
    }
    child.on('error', (error) => {
      add('stderr')(errorText(error))
      finish(NOT_STARTED, null)
    })
    child.on('close', finish)
  })
}

/** A process that has left the group may hold the output open for ever. */
function listenOn({ stdout, stderr }: ChildProcess, stop: () => void): void {
  let heard = true
  const hear = () => void (heard = true)
  for (const stream of [stdout, stderr]) stream?.on('data', hear)
  const look = () => {
    if (stdout?.destroyed !== false && stderr?.destroyed !== false) return
    if (!heard) return stop()
    heard = false
    // First read the data that arrived while this process was busy.
    setTimeout(() => setImmediate(look), SILENCE_MS).unref()
  }
  look()
}

/** Returns an error for arguments and variables that no program can get, such as ones with a NUL. */
function begin(program: string, args: readonly string[], options: CommandOptions) {
  try {
    return spawn(program, args, {
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
