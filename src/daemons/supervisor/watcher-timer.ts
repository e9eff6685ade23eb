// Starts the watcher every few minutes, and at once on demand; and the cleaner once a day. Ganeti uses cron for this.
import type { Clock, Timer } from '../../lib/clock'
import { inheritedEnvironment } from '../../lib/environment'
import type { Log } from '../../lib/log'
import type { Processes } from '../../lib/programs/processes'
import { CLEANER_EVERY, WATCHER_EVERY_S, WATCHER_RUNS_MAX, WATCHER_STRICT_EVERY } from '../../model/limits/watcher'

interface Parts {
  readonly clock: Clock
  readonly log: Log
  readonly processes: Processes
  /** bin/ganeti-watcher */
  readonly program: string
  /** bin/ganeti-cleaner */
  readonly cleaner: string
  /** Whether the master's daemons run here. */
  isMaster(): boolean
}

export class WatcherTimer {
  private timer: Timer | undefined
  private turn = 0
  private readonly running = new Set<number>()
  /** The reason for the next run, while too many runs are active. */
  private next: string | undefined
  private closed = false

  constructor(private readonly parts: Parts) {}

  /** The first run is due now; the next ones at their regular times. */
  start(why: string): void {
    this.timer?.cancel()
    this.schedule()
    this.soon(why)
  }

  /** Runs soon to look after instances; slower duties can wait. Before the start, this becomes the first run. */
  soon(why: string): void {
    if (this.closed || this.timer === undefined) return
    // A run that has begun may have looked already. Runs themselves take turns.
    if (this.running.size >= WATCHER_RUNS_MAX) this.next = why
    else this.run(['--no-verify-disks', '--why', why])
  }

  close(): void {
    this.closed = true
    this.timer?.cancel()
    for (const pid of this.running) this.parts.processes.signal(pid, 'SIGTERM')
  }

  private schedule(): void {
    this.timer = this.parts.clock.after(WATCHER_EVERY_S * 1000, () => this.due(), { background: true })
  }

  private due(): void {
    this.schedule()
    this.turn++
    if (this.turn % CLEANER_EVERY === 0) this.clean()
    // A run may wait long for a group's disks. The next one need not wait for it.
    if (this.running.size < WATCHER_RUNS_MAX) this.run(this.turn % WATCHER_STRICT_EVERY === 0 ? [] : ['--no-strict'])
    else this.parts.log.warn({ running: [...this.running] }, 'the watcher does not run: former runs have not ended')
  }

  private clean(): void {
    for (const part of this.parts.isMaster() ? ['node', 'master'] : ['node'])
      this.fork(this.parts.cleaner, [part]).once('error', (error) =>
        this.parts.log.error({ err: error }, 'the cleaner cannot be started'),
      )
  }

  private fork(program: string, args: readonly string[]) {
    return this.parts.processes.fork(program, [...args], {
      env: inheritedEnvironment(),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Ctrl-C in the terminal reaches only the parent.
      detached: true,
    })
  }

  private run(args: readonly string[]): void {
    const { program, log } = this.parts
    const child = this.fork(program, ['--spare', ...args])
    const { pid } = child
    if (pid !== undefined) this.running.add(pid)
    child.once('error', (error) => log.error({ err: error }, 'the watcher cannot be started'))
    child.once('exit', (code, signal) => {
      if (pid !== undefined) this.running.delete(pid)
      if (code !== 0) log.error({ code, signal }, 'a run of the watcher failed; its log says why')
      const why = this.next
      this.next = undefined
      if (why !== undefined) this.soon(why)
    })
  }
}
