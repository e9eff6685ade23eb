// Keeps a node's reports ready while somebody asks for them. Collectors and plugins run at their own paces, and a
// request gets the last result. Without requests they pause, except those that compare looks. One that fails or hangs
// becomes a report that says so.
import { type Clock, type Timer, within } from '../lib/clock'
import type { Log } from '../lib/log'
import { errorText } from '../lib/system-failure'
import { NO_CATEGORY } from '../model/constants/collectors'
import { COLLECT_S, COLLECTOR_RESTS_S, REPORT_CHARS_MAX, REPORT_S } from '../model/limits/collectors'
import { type Sample, type Schedule, type ScheduleBounds, boundsOf, firstSchedule, nextSchedule } from './schedule'
import { type Collector, type Described, type OpenCollector, type Status, fieldsOf, reportOf } from './report'

/** Anything that is looked at regularly. */
export interface Watched
  extends Described, Pick<Collector, 'interval_s' | 'cost_ms' | 'stateful' | 'signed' | 'codes'> {
  /** Its version in reports; default: that of built-in collectors. */
  readonly version?: string
  open(): OpenCollector
}

/** The configuration of a collector. */
export interface Switch {
  readonly active: boolean
  readonly interval_s: number
}

export interface MonitorOptions {
  readonly clock: Clock
  readonly log: Log
  /** Adds the proof that this node made a report. */
  sign(report: string, time_ns: number): object
}

export interface Selection {
  /** Only these categories; empty for all. */
  readonly categories: readonly string[]
  readonly names: readonly string[]
  /** False reduces reports of a status to the status. */
  readonly verbose: boolean
}

/** Figures of a collector, for this daemon's administrator. */
export interface Figures {
  readonly watched: Watched
  readonly pace: Schedule
  readonly looks: number
  readonly failures: number
  readonly seen_ms: number | undefined
  readonly status: Status | undefined
  readonly error: string | undefined
}

export class Monitor {
  private readonly watches = new Map<string, Watch>()
  private switches: ReadonlyMap<string, Switch> = new Map()

  constructor(private readonly options: MonitorOptions) {}

  /** Watches exactly these from now on. Already watched ones continue. */
  watch(all: readonly Watched[]): void {
    const desired = new Map(all.map((watched) => [keyOf(watched), watched]))
    for (const [key, watch] of this.watches) {
      if (desired.get(key) === watch.watched) continue
      watch.stop()
      this.watches.delete(key)
    }
    for (const [key, watched] of desired) {
      if (this.watches.has(key)) continue
      const watch = new Watch(watched, this.options)
      this.watches.set(key, watch)
      watch.follow(this.switches.get(watched.name))
    }
  }

  /** The configuration has changed. A collector that it does not name is active. */
  follow(switches: ReadonlyMap<string, Switch>): void {
    this.switches = switches
    for (const watch of this.watches.values()) watch.follow(switches.get(watch.watched.name))
  }

  /** The active ones, in the order of `watch`. */
  active(): readonly Watched[] {
    return this.running().map(({ watched }) => watched)
  }

  /** All names, including those that are switched off. */
  names(): readonly string[] {
    return [...this.watches.values()].map(({ watched }) => watched.name)
  }

  /** The current figures of all active collectors. */
  async figures(): Promise<readonly Figures[]> {
    const running = this.running()
    await Promise.all(running.map((watch) => watch.wake()))
    return running.map((watch) => watch.figures())
  }

  /** A JSON list of reports. */
  async reports({ categories, names, verbose }: Selection): Promise<string> {
    const desired = this.running().filter(
      ({ watched: { name, category } }) =>
        (categories.length === 0 || categories.includes(category ?? NO_CATEGORY)) &&
        (names.length === 0 || names.includes(name)),
    )
    const texts = await Promise.all(desired.map((watch) => watch.report(verbose)))
    return `[${texts.join(',')}]`
  }

  /** A JSON report; undefined if there is no such collector, or it is switched off. */
  async report(category: string, name: string, verbose: boolean): Promise<string | undefined> {
    const watch = this.watches.get(`${category}/${name}`)
    return watch?.isActive === true ? watch.report(verbose) : undefined
  }

  close(): void {
    for (const watch of this.watches.values()) watch.stop()
  }

  private running(): Watch[] {
    return [...this.watches.values()].filter(({ isActive }) => isActive)
  }
}

const keyOf = ({ name, category }: Described): string => `${category ?? NO_CATEGORY}/${name}`

interface Kept {
  readonly whole: string
  /** Reduced to the status. */
  readonly short: string
  /** Compared to notice changes. */
  readonly data: string
  readonly seen_ms: number
  readonly status: Status | undefined
  readonly error: string | undefined
}

class Watch {
  private open: OpenCollector | undefined
  private kept: Kept | undefined
  private pace: Schedule
  private bounds: ScheduleBounds
  /** The timer for the next look; undefined while it looks or pauses. */
  private timer: Timer | undefined
  /** The first look, or the first one after a pause, while it runs. */
  private waking: Promise<void> | undefined
  private asked_ms = -Infinity
  /** A look that has not ended, even if it was given up long ago. */
  private looking = false
  private looks = 0
  private failures = 0

  constructor(
    readonly watched: Watched,
    private readonly options: MonitorOptions,
  ) {
    this.bounds = boundsOf(watched.interval_s, watched.kind)
    this.pace = firstSchedule(watched, this.bounds)
  }

  get isActive(): boolean {
    return this.open !== undefined
  }

  follow(reported: Switch | undefined): void {
    const { active, interval_s } = reported ?? { active: true, interval_s: this.watched.interval_s }
    if (!active) return this.stop()
    const changed = this.bounds.fastest_s !== interval_s
    if (this.isActive && !changed) return
    this.bounds = boundsOf(interval_s, this.watched.kind)
    this.pace = firstSchedule(
      { ...this.pace, interval_s: this.isActive ? interval_s : this.watched.interval_s },
      this.bounds,
    )
    if (!this.isActive) {
      this.open = this.watched.open()
      if (this.isWanted()) this.begin()
    } else if (this.timer !== undefined) this.lookLater()
  }

  stop(): void {
    this.timer?.cancel()
    this.timer = undefined
    this.open = undefined
    this.kept = undefined
    this.waking = undefined
  }

  /** Called for each request. When it resolves, the data is newer than the last pause, unless a look takes too long. */
  async wake(): Promise<void> {
    const { clock } = this.options
    this.asked_ms = clock.monotonic_ms()
    if (this.isActive && this.timer === undefined && !this.looking) {
      const isOld = this.kept === undefined || this.asked_ms - this.kept.seen_ms >= this.pace.interval_s * 1000
      if (isOld) this.begin()
      else this.lookLater()
    }
    // Requests do not wait for a slow collector.
    if (this.waking !== undefined) await within(clock, REPORT_S, this.waking)
  }

  async report(verbose: boolean): Promise<string> {
    await this.wake()
    const kept = this.kept ?? this.keep({ error: 'nothing was collected yet' })
    return verbose ? kept.whole : kept.short
  }

  figures(): Figures {
    const { watched, pace, looks: probes, failures, kept } = this
    return { watched, pace, looks: probes, failures, seen_ms: kept?.seen_ms, status: kept?.status, error: kept?.error }
  }

  private begin(): void {
    const waking = this.look()
    this.waking = waking
    void waking.then(() => {
      if (this.waking === waking) this.waking = undefined
    })
  }

  private async look(): Promise<void> {
    const { clock } = this.options
    const { open } = this
    if (open === undefined) return
    // A hanging look is waited for, not started again.
    if (this.looking) return this.lookLater()
    const begun_ms = clock.monotonic_ms()
    this.looking = true
    const work = observed(open).finally(() => (this.looking = false))
    const found = (await within(clock, COLLECT_S, work)) ?? { error: `it did not answer within ${COLLECT_S} s` }
    if (this.open !== open) return
    const before = this.kept
    this.kept = this.keep(found)
    this.looks++
    if (this.kept.error !== undefined) this.noteFailure(this.kept.error, before)
    this.pace = this.paceAfter({
      changed: before?.data !== this.kept.data,
      took_ms: clock.monotonic_ms() - begun_ms,
    })
    if (this.isWanted()) this.lookLater()
  }

  private isWanted(): boolean {
    const unasked_ms = this.options.clock.monotonic_ms() - this.asked_ms
    return this.watched.stateful === true || unasked_ms < COLLECTOR_RESTS_S * 1000
  }

  private paceAfter(look: Sample): Schedule {
    const { fastest_s: interval_s } = this.bounds
    // Waiting for a missing answer costs nothing, and missing data should appear soon.
    if (this.kept?.error !== undefined) return { ...this.pace, interval_s }
    // A collector that compares looks needs them at an even pace.
    if (this.watched.stateful === true) return { cost_ms: look.took_ms, interval_s }
    // The first look may have waited for other starting collectors.
    const took_ms = this.looks === 1 ? this.pace.cost_ms : look.took_ms
    return nextSchedule(this.pace, { ...look, took_ms }, this.bounds)
  }

  private lookLater(): void {
    this.timer?.cancel()
    const look = () => {
      this.timer = undefined
      void this.look()
    }
    this.timer = this.options.clock.after(this.pace.interval_s * 1000, look, { background: true })
  }

  private noteFailure(error: string, before: Kept | undefined): void {
    this.failures++
    if (before?.error !== error)
      this.options.log.warn({ collector: keyOf(this.watched), error }, 'nothing was collected')
  }

  private keep(found: Seen): Kept {
    const observed = 'data' in found ? bounded(found.data) : found
    const { error } = observed
    const data = error === undefined ? observed.data : this.failed(error)
    const status = statusIn(data)
    const text = JSON.stringify(data)
    const whole = this.written(data)
    const short = this.watched.kind === 'status' ? this.written({ status: fieldsOf(data)['status'] ?? null }) : whole
    return { whole, short, data: text, seen_ms: this.options.clock.monotonic_ms(), status, error }
  }

  /** Data that could not be collected are unknown. */
  private failed(error: string): unknown {
    return this.watched.codes === undefined ? { error } : { status: { code: 2, message: error }, error }
  }

  private written(data: unknown): string {
    const { watched, options } = this
    const report = reportOf(watched, options.clock, data)
    const whole = { ...report, version: watched.version ?? report.version }
    const text = JSON.stringify(whole)
    return watched.signed === true ? JSON.stringify({ ...whole, ...options.sign(text, report.timestamp) }) : text
  }
}

type Seen = { readonly data: unknown; readonly error?: undefined } | { readonly error: string }

async function observed(open: OpenCollector): Promise<Seen> {
  try {
    return { data: await open.collect() }
  } catch (error) {
    return { error: errorText(error) }
  }
}

function bounded(data: unknown): Seen {
  const chars = JSON.stringify(data ?? null).length
  return chars <= REPORT_CHARS_MAX
    ? { data }
    : { error: `it reports ${chars} characters, more than ${REPORT_CHARS_MAX}` }
}

function statusIn(data: unknown): Status | undefined {
  const { code, message } = fieldsOf(fieldsOf(data)['status'])
  if (code !== 0 && code !== 1 && code !== 2 && code !== 4) return undefined
  return { code, message: String(message) }
}
