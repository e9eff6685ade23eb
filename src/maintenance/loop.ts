// The main loop of the maintenance daemon: looks at the nodes, and goes from round to round.
import type { Clock, Timer } from '../lib/clock'
import type { Log } from '../lib/log'
import { errorText } from '../lib/system-failure'
import { ROUND_AGAIN_S, ROUND_LOOK_S } from '../model/limits/maintenance'
import type { StateStore } from './state-store'
import type { Rounds, Stepped } from './rounds'
import type { NodeWatch } from './watch-nodes'

export interface MaintenanceLoopOptions {
  readonly memory: StateStore
  readonly rounds: Pick<Rounds, 'step'>
  readonly watch: Pick<NodeWatch, 'look' | 'interval_s'>
  readonly clock: Clock
  readonly log: Log
}

export interface MaintenanceLoopMetrics {
  rounds: number
  looks: number
  failures: number
}

export class MaintenanceLoop {
  readonly figures: MaintenanceLoopMetrics = { rounds: 0, looks: 0, failures: 0 }
  private readonly timers = new Map<'look' | 'step', Timer>()
  private closed = false
  private stepping = false

  constructor(private readonly options: MaintenanceLoopOptions) {}

  start(): void {
    void this.look()
    void this.step()
  }

  /** Something has changed that matters for the next round. */
  soon(): void {
    if (!this.stepping) this.later('step', ROUND_LOOK_S, () => this.step())
  }

  close(): void {
    this.closed = true
    for (const timer of this.timers.values()) timer.cancel()
  }

  private async look(): Promise<void> {
    const { watch, log } = this.options
    try {
      await watch.look()
      this.figures.looks++
    } catch (error) {
      this.figures.failures++
      log.warn({ failure: errorText(error) }, 'what the nodes report could not be noted; it is tried again')
    }
    this.later('look', watch.interval_s(), () => this.look())
  }

  private async step(): Promise<void> {
    const { rounds, log, memory } = this.options
    let stepped: Stepped = 'failed'
    this.stepping = true
    try {
      stepped = await rounds.step()
      if (stepped === 'acted' || stepped === 'failed') this.figures.rounds++
    } catch (error) {
      this.figures.failures++
      log.warn({ failure: errorText(error), again_s: ROUND_AGAIN_S }, 'a step of maintenance failed')
    }
    this.stepping = false
    const { round_delay } = memory.settings()
    const wait_s = {
      waits: ROUND_LOOK_S,
      acted: ROUND_LOOK_S,
      failed: Math.min(ROUND_AGAIN_S, round_delay),
      idle: round_delay,
    }
    this.later('step', wait_s[stepped], () => this.step())
  }

  private later(name: 'look' | 'step', wait_s: number, work: () => Promise<void>): void {
    this.timers.get(name)?.cancel()
    if (!this.closed)
      this.timers.set(
        name,
        this.options.clock.after(wait_s * 1000, () => void work(), { background: true }),
      )
  }
}
