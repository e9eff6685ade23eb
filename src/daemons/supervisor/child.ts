// A daemon as a child process: starts it, watches it, restarts it when it dies, and stops it.
import type { ChildProcess } from 'node:child_process'
import type { Clock, Timer } from '../../lib/clock'
import { inheritedEnvironment } from '../../lib/environment'
import { errorText } from '../../lib/system-failure'
import { type Frugal, nodeFlags } from '../../lib/programs/node-flags'
import type { Processes } from '../../lib/programs/processes'
import {
  CHILD_BACKOFF_MAX_S,
  CHILD_BACKOFF_MIN_S,
  CHILD_HEALTHY_S,
  CHILD_START_S,
  CHILD_STOP_S,
} from '../../model/limits/daemons'

export interface ChildOptions {
  /** Its name in messages. */
  name: string
  program: string
  args: readonly string[]
  env?: Readonly<Record<string, string>>
  /** As for `nodeFlags`. */
  frugal?: Frugal | undefined
  clock: Clock
  processes: Processes
  /** Exit codes after which it is not started again. */
  finalCodes?: readonly number[]
  onMessage?(message: unknown, child: ChildProcess): void
  /** It ended unexpectedly. `again_s` is the time until its restart; undefined if there is none. */
  onDeath?(how: string, again_s: number | undefined): void
}

/** A child that could not be started; the text has its last output. */
export class ChildFailure extends Error {
  constructor(
    text: string,
    readonly exitCode: number | null = null,
  ) {
    super(text)
  }
}

/** Whether a child's message says that it is ready. */
export const isReady = (message: unknown): boolean =>
  typeof message === 'object' && message !== null && 'ready' in message && message.ready === true

export class Child {
  private process: ChildProcess | undefined
  private timer: Timer | undefined
  private wanted = false
  private backoff_s = CHILD_BACKOFF_MIN_S

  constructor(private readonly options: ChildOptions) {}

  get running(): boolean {
    return this.process !== undefined
  }

  get pid(): number | undefined {
    return this.process?.pid
  }

  send(message: object | string): void {
    if (this.process?.connected) this.process.send(message)
  }

  /** Resolves when the child is ready. Rejects if it ends before that; then it is not restarted. */
  start(): Promise<void> {
    this.wanted = true
    return new Promise((resolve, reject) => {
      this.launch({
        ready: resolve,
        failed: (error) => {
          this.wanted = false
          reject(error)
        },
      })
    })
  }

  /** SIGTERM, then SIGKILL if it takes too long. */
  async stop(): Promise<void> {
    this.wanted = false
    this.timer?.cancel()
    const child = this.process
    if (child === undefined) return
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    child.kill('SIGTERM')
    const limit = this.options.clock.after(CHILD_STOP_S * 1000, () => child.kill('SIGKILL'))
    await ended
    limit.cancel()
  }

  /** `first` is told about the first start; later ones are retried until they work. */
  private launch(first?: { ready(): void; failed(error: Error): void }): void {
    const { name, program, args, env, frugal, clock, processes } = this.options
    const cannot = (error: unknown) => {
      this.process = undefined
      const how = `cannot be started: ${errorText(error)}`
      first?.failed(new ChildFailure(`${name} ${how}`))
      this.revive(false, null, how)
    }
    const begin = () =>
      processes.fork(program, [...args], {
        env: { ...inheritedEnvironment(), ...env },
        execArgv: nodeFlags(frugal),
        stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
        // Its own process group: Ctrl-C in the terminal reaches only the parent, which stops its children in order.
        detached: true,
      })
    let child: ChildProcess
    try {
      child = begin()
    } catch (error) {
      return cannot(error)
    }
    this.process = child
    const started_ms = clock.monotonic_ms()
    let lastWords = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-2000)))
    const limit = clock.after(CHILD_START_S * 1000, () => child.kill('SIGKILL'), { background: true })
    let ready = false
    child.on('message', (message) => {
      if (!isReady(message)) return this.options.onMessage?.(message, child)
      ready = true
      limit.cancel()
      first?.ready()
    })
    child.on('error', (error) => {
      // A message that cannot be sent is such an event, too. Only a process that did not begin has no number, and no exit.
      if (child.pid !== undefined || this.process !== child) return
      limit.cancel()
      cannot(error)
    })
    child.once('exit', (code, signal) => {
      limit.cancel()
      this.process = undefined
      const how = signal ?? `exit code ${code}`
      const words = lastWords.trim()
      if (!ready)
        first?.failed(
          new ChildFailure(`${name} ended while it started (${how})${words === '' ? '' : `: ${words}`}`, code),
        )
      if (clock.monotonic_ms() - started_ms > CHILD_HEALTHY_S * 1000) this.backoff_s = CHILD_BACKOFF_MIN_S
      this.revive(ready, code, words === '' ? how : `${how}: ${words}`)
    })
  }

  private revive(wasReady: boolean, code: number | null, how: string): void {
    if (!this.wanted) return
    const final = code !== null && this.options.finalCodes?.includes(code) === true
    const again_s = final ? undefined : this.backoff_s
    this.options.onDeath?.(how, again_s)
    if (again_s === undefined) return void (this.wanted = false)
    // A child that worked is restarted at once; one that cannot start waits longer each time.
    this.backoff_s = wasReady ? CHILD_BACKOFF_MIN_S : Math.min(2 * this.backoff_s, CHILD_BACKOFF_MAX_S)
    this.timer = this.options.clock.after(again_s * 1000, () => this.launch())
  }
}
