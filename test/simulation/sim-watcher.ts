// The watcher on the simulated master: a process of its own each time, which can be killed at any moment, as a parent of daemons starts it.
import type { HeldLock } from '../../src/lib/file-lock'
import { runWatcher } from '../../src/maintenance/watcher/watcher'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { openLog } from './sim-log'
import type { SimMachine } from './sim-machine'
import { SimProcess, type Simulator } from './simulator'

/** Much more often than in life: most of a run's time is trouble. */
const EVERY_S = [4, 20] as const

export class SimWatcher {
  /** Runs that got to their end. */
  ended = 0
  /** Processes that watch now. */
  readonly running = new Set<SimProcess>()
  private readonly locks = new Map<string, Set<SimProcess>>()
  private stopped = false

  constructor(
    private readonly simulator: Simulator,
    private readonly master: SimMachine,
  ) {
    this.later()
  }

  stop(): void {
    this.stopped = true
  }

  kill(): void {
    if (this.running.size > 0) this.simulator.pick([...this.running]).end('killed')
  }

  start(why: string): void {
    if (this.stopped || !this.master.up) return
    const process = this.master.start('watcher')
    this.running.add(process)
    process.onEnd(() => this.running.delete(process))
    process.run(() => void this.watch(process, why))
  }

  private later(): void {
    this.simulator.after(this.simulator.between(...EVERY_S) * 1000, undefined, () => {
      this.start('its time has come')
      if (!this.stopped) this.later()
    })
  }

  private async watch(process: SimProcess, why: string): Promise<void> {
    const { paths } = this.master
    const { clock } = process
    const master = new LuxiClient({ path: paths.socket('query'), clock })
    const options = { group: undefined, jobAge_s: 1e9, ignorePause: false, waitForGroups: true, strict: false, why }
    const code = await runWatcher(
      { ...options, verifyDisks: this.simulator.chance(0.5) },
      {
        ...{
          paths,
          clock,
          master,
          log: openLog(process),
          disk: this.master.disk.of(process),
          hostname: paths.hostname,
        },
        lockFile: async (file, mode) => (mode === 'shared' ? { release: () => undefined } : this.lock(file)),
        lookAfterNode: async () => undefined,
        lookAfterDaemons: async () => undefined,
        startGroup: () => undefined,
      },
    )
    master.close()
    if (code === 0) this.ended++
    process.end(`exit ${code}`)
  }

  /** Until it is released, or its holder is dead. */
  private async lock(file: string): Promise<HeldLock | undefined> {
    const holders = this.locks.get(file) ?? new Set()
    if ([...holders].some(({ alive }) => alive)) return undefined
    const holder = SimProcess.current()
    this.locks.set(file, new Set([holder]))
    return { release: () => void this.locks.get(file)?.delete(holder) }
  }
}
