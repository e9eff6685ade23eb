// The heart of the simulation: one time line of events, drawn from one seed. Everything that the product does when nobody disturbs
// it follows from the order of these events, so the same seed gives the same run.
import { AsyncLocalStorage } from 'node:async_hooks'
import { breathe, type Clock, type Timer } from '../../src/lib/clock'
import { seededRandom, type Random } from '../../src/lib/random'

const START_MS = Date.UTC(2026, 0, 1)

interface Event {
  at_ms: number
  order: number
  readonly owner: SimProcess | undefined
  /** Its owner's own clock, and nothing that comes from others. */
  readonly isTimer: boolean
  action: (() => void) | undefined
}

/** Which process the running code belongs to: what has no other way to know asks here. */
const running = new AsyncLocalStorage<SimProcess>()

export class Simulator {
  readonly random: Random
  /** The events so far, for somebody who examines a failure. */
  readonly trace: string[] = []
  /** How far the wall clock of each machine is ahead of the time that passes. */
  private readonly ahead_ms = new Map<string, number>()
  private readonly events: Event[] = []
  private now_ms = START_MS
  private order = 0
  private nextPid = 1000

  constructor(
    readonly seed: number,
    readonly tracing: boolean,
  ) {
    this.random = seededRandom(seed)
  }

  get time_ms(): number {
    return this.now_ms
  }

  wall_ms(machine: string): number {
    return this.now_ms + (this.ahead_ms.get(machine) ?? 0)
  }

  /** Somebody sets the clock of a machine. Durations are not touched by it. */
  jumpClock(machine: string, by_s: number): void {
    this.note(machine, `its wall clock jumps by ${by_s.toFixed(1)} s`)
    this.ahead_ms.set(machine, (this.ahead_ms.get(machine) ?? 0) + by_s * 1000)
  }

  /** Runs the action later, unless its owner is dead by then. Without an owner it is the world's. */
  after(delay_ms: number, owner: SimProcess | undefined, action: () => void, isTimer = false): Timer {
    const event: Event = { at_ms: this.now_ms + Math.max(0, delay_ms), order: this.order++, owner, isTimer, action }
    this.push(event)
    return { cancel: () => void (event.action = undefined) }
  }

  /** Runs now the events that a stopped process has missed: timers first, as in Node's event loop, or all in the order of time. */
  catchUp(missed: readonly Event[]): void {
    const timersFirst = this.chance(0.7)
    const rank = ({ isTimer }: Event) => (timersFirst && isTimer ? 0 : 1)
    for (const event of [...missed].sort((a, b) => rank(a) - rank(b)))
      this.push(Object.assign(event, { at_ms: this.now_ms, order: this.order++ }))
  }

  process(name: string, machine: string): SimProcess {
    return new SimProcess(this, name, machine, this.nextPid++)
  }

  /** Between two limits, in fractions. */
  between(low: number, high: number): number {
    return low + ((high - low) * this.random.below(1_000_000)) / 1_000_000
  }

  chance(probability: number): boolean {
    return this.random.below(1_000_000) < probability * 1_000_000
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.random.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  note(who: string, text: string): void {
    if (!this.tracing) return
    // Some errors tell how much room the disk has that this program really runs on.
    const same = text.replace(/\d+ of \d+ MiB are free/, 'some room is free')
    this.trace.push(`${((this.now_ms - START_MS) / 1000).toFixed(6)} ${who}: ${same}`)
  }

  /** Lets time pass until the condition holds; false when it did not within the limit. */
  async run(limit_s: number, until: () => boolean = () => false): Promise<boolean> {
    const end_ms = this.now_ms + limit_s * 1000
    // Lets work that was begun before the first event go on.
    await breathe()
    while (!until()) {
      const [next] = this.events
      if (next === undefined || next.at_ms > end_ms) {
        this.now_ms = end_ms
        return false
      }
      this.pop()
      const { action, owner } = next
      if (action === undefined || owner?.alive === false) continue
      this.now_ms = next.at_ms
      if (owner?.holds(next) === true) continue
      if (owner) owner.run(action)
      else action()
      // All that follows from the event at this moment.
      await breathe()
    }
    return true
  }

  private push(event: Event): void {
    const { events } = this
    let at = events.push(event) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = events[parent]
      if (above === undefined || !isBefore(event, above)) break
      events[at] = above
      at = parent
    }
    events[at] = event
  }

  private pop(): void {
    const { events } = this
    const last = events.pop()
    if (last === undefined || events.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const [left, right] = [events[child], events[child + 1]]
      if (left === undefined) break
      if (right !== undefined && isBefore(right, left)) child++
      const smaller = events[child]
      if (smaller === undefined || !isBefore(smaller, last)) break
      events[at] = smaller
      at = child
    }
    events[at] = last
  }
}

const isBefore = (a: Event, b: Event): boolean => a.at_ms < b.at_ms || (a.at_ms === b.at_ms && a.order < b.order)

/** A process of a simulated machine. What it waits for when it dies never comes. */
export class SimProcess {
  alive = true
  /** The events that a stopped process misses; undefined while it runs. */
  private missed: Event[] | undefined
  readonly clock: Clock
  private readonly endings = new Set<() => void>()

  constructor(
    readonly simulator: Simulator,
    readonly name: string,
    readonly machine: string,
    readonly pid: number,
  ) {
    this.clock = clockOf(simulator, this)
  }

  /** The process that runs this code. */
  static current(): SimProcess {
    const current = running.getStore()
    if (current === undefined) throw new Error('this code belongs to no simulated process')
    return current
  }

  run<T>(action: () => T): T {
    return running.run(this, action)
  }

  /** How the world learns that the process is gone. Returns how to forget it. */
  onEnd(action: () => void): () => void {
    this.endings.add(action)
    return () => void this.endings.delete(action)
  }

  get isStopped(): boolean {
    return this.missed !== undefined
  }

  /** Nothing happens in it until it is continued; its files and sockets stay open. */
  stop(time_s: number): void {
    if (!this.alive || this.missed !== undefined) return
    this.missed = []
    this.simulator.note(this.name, `is stopped for ${time_s.toFixed(1)} s`)
    this.simulator.after(time_s * 1000, undefined, () => this.continue())
  }

  continue(): void {
    const { missed } = this
    if (missed === undefined) return
    this.missed = undefined
    if (!this.alive) return
    this.simulator.note(this.name, `goes on, and has missed ${missed.length} events`)
    this.simulator.catchUp(missed)
  }

  holds(event: Event): boolean {
    this.missed?.push(event)
    return this.missed !== undefined
  }

  end(why: string): void {
    if (!this.alive) return
    this.alive = false
    this.simulator.note(this.name, `ends: ${why}`)
    for (const action of this.endings) action()
  }
}

function clockOf(simulator: Simulator, process: SimProcess): Clock {
  return {
    now_ms: () => simulator.wall_ms(process.machine),
    monotonic_ms: () => simulator.time_ms,
    after: (delay_ms, action) => simulator.after(delay_ms, process, action, true),
    sleep(delay_ms, signal) {
      return new Promise((resolve, reject) => {
        const stop = () => {
          timer.cancel()
          reject(signal?.reason as Error)
        }
        const end = () => {
          signal?.removeEventListener('abort', stop)
          resolve()
        }
        const timer = simulator.after(delay_ms, process, end, true)
        if (signal?.aborted) stop()
        else signal?.addEventListener('abort', stop, { once: true })
      })
    },
  }
}
