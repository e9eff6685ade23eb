// The watcher on the simulated master: a process of its own each time, which can be killed at any moment, as a parent of daemons starts it.
import type { Clock } from '../../src/lib/clock'
import type { HeldLock } from '../../src/lib/file/lock'
import { runWatcher } from '../../src/maintenance/watcher/watcher'
import { LuxiClient } from '../../src/rpc/luxi/client'
import { openLog } from './sim-log'
import type { SimMachine } from './sim-machine'
import { SimProcess, type Simulator } from './simulator'

/** Much more often than in life: most of a run's time is trouble. */
const EVERY_S = [4, 20] as const
const IN_PEACE_S = [4, 8] as const

export class SimWatcher {
  /** When each run that got to its end began to look; others have left it to one that waited. */
  readonly looks_ms: number[] = []
  /** Processes that watch now. */
  readonly running = new Set<SimProcess>()
  private readonly holders = new Map<string, SimProcess>()
  private stopped = false
  private inPeace = false

  constructor(
    private readonly simulator: Simulator,
    private readonly master: SimMachine,
  ) {
    this.later()
  }

  /** Nothing stands in its way any more, so it does all that it should. */
  peace(): void {
    this.inPeace = true
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
    const [least_s, most_s] = this.inPeace ? IN_PEACE_S : EVERY_S
    this.simulator.after(this.simulator.between(least_s, most_s) * 1000, undefined, () => {
      this.start('its time has come')
      if (!this.stopped) this.later()
    })
  }

  private async watch(process: SimProcess, why: string): Promise<void> {
    const { paths } = this.master
    const { clock } = process
    let looked_ms: number | undefined
    const turn = async (file: string, wait_s: number): Promise<HeldLock | undefined> => {
      const held = await this.lock(file, wait_s, clock)
      if (held !== undefined && file.endsWith('.lock')) looked_ms = this.simulator.time_ms
      return held
    }
    const master = new LuxiClient({ path: paths.socket('query'), clock })
    const options = {
      group: undefined,
      jobAge_s: 1e9,
      ignorePause: false,
      waitForGroups: true,
      strict: false,
      spare: false,
      why,
    }
    const code = await runWatcher(
      { ...options, verifyDisks: this.inPeace || this.simulator.chance(0.5) },
      {
        ...{
          paths,
          clock,
          master,
          log: openLog(process),
          disk: this.master.disk.of(process),
          hostname: paths.hostname,
        },
        lockFile: async (file, mode, wait_s = 0) =>
          mode === 'shared' ? { release: () => undefined } : turn(file, wait_s),
        lookAfterNode: async () => undefined,
        lookAfterDaemons: async () => undefined,
        startGroup: () => undefined,
      },
    )
    master.close()
    if (code === 0 && looked_ms !== undefined) this.looks_ms.push(looked_ms)
    process.end(`exit ${code}`)
  }

  /** Held until it is released, or its holder is dead. */
  private async lock(file: string, wait_s: number, clock: Clock): Promise<HeldLock | undefined> {
    const end_ms = clock.monotonic_ms() + wait_s * 1000
    while (this.holders.get(file)?.alive === true) {
      if (clock.monotonic_ms() >= end_ms) return undefined
      await clock.sleep(LOOK_AGAIN_MS)
    }
    const holder = SimProcess.current()
    this.holders.set(file, holder)
    return {
      release: () => {
        if (this.holders.get(file) === holder) this.holders.delete(file)
      },
    }
  }
}

const LOOK_AGAIN_MS = 50
