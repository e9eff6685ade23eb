// The last hours of the node and its instances: one look a minute, only at files of the kernel, and also when nobody
// asks, because nobody can measure the past. Everything is in memory, and in a file for the next start.
import type { Timer } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import { HISTORY_INSTANCES_MAX, HISTORY_LOOK_S, HISTORY_LOOKS, HISTORY_SAVED_S } from '../../model/limits/history'
import {
  INSTANCE_COLUMNS,
  type InstanceFigures,
  type InstanceHistory,
  NODE_COLUMNS,
  type NodeFigures,
  type NodeHistory,
} from '../../model/history'
import { nodeUptime } from '../processes'
import type { NodeSources } from '../report'
import { type InstanceLook, lookAtInstances } from './instance-look'
import { lookAtNode, type NodeLook } from './node-look'
import { ratesOf } from './rates'
import type { SavedHistory } from './saved'
import { Track } from './track'

export interface HistoryOptions {
  readonly sources: NodeSources
  readonly log: Log
  /** Saves the history for a restart. */
  save(history: SavedHistory): Promise<void>
}

type NodeTrack = Track<(typeof NODE_COLUMNS)[number]>
type InstanceTrack = Track<(typeof INSTANCE_COLUMNS)[number]>

interface Looked {
  readonly uptime_s: number
  readonly node: NodeLook
  readonly instances: ReadonlyMap<string, InstanceLook>
}

export class History {
  /** The time of each row; NaN for an empty row. */
  private readonly times = new Float64Array(HISTORY_LOOKS).fill(NaN)
  private readonly node: NodeTrack = new Track(NODE_COLUMNS, HISTORY_LOOKS)
  private readonly instances = new Map<string, InstanceTrack>()
  private before: Looked | undefined
  private timer: Timer | undefined
  private saved_ms: number
  private failing = false
  private closed = false

  constructor(private readonly options: HistoryOptions) {
    this.saved_ms = options.sources.clock.monotonic_ms()
  }

  /** Looks regularly until it is closed. */
  async start(): Promise<void> {
    await this.lookOnce()
    const { clock } = this.options.sources
    if (this.closed) return
    if (clock.monotonic_ms() - this.saved_ms >= HISTORY_SAVED_S * 1000) await this.save()
    if (!this.closed) this.timer = clock.after(HISTORY_LOOK_S * 1000, () => void this.start(), { background: true })
  }

  /** The node's history after this time, in seconds since the epoch. */
  ofNode(since_s: number): NodeHistory {
    const rows = this.rows(since_s)
    return { interval_s: HISTORY_LOOK_S, times: this.timesOf(rows), ...this.node.told(rows) }
  }

  /** An instance's history, while it ran here. */
  ofInstance(name: string, since_s: number): InstanceHistory {
    const track: InstanceTrack = this.instances.get(name) ?? new Track(INSTANCE_COLUMNS, HISTORY_LOOKS)
    const rows = this.rows(since_s).filter((row) => track.has(row))
    return { interval_s: HISTORY_LOOK_S, times: this.timesOf(rows), ...track.told(rows) }
  }

  /** Loads an earlier process's history, before the first look. */
  restore({ node, instances }: SavedHistory): void {
    const rowOf = new Map(node.times.map((time, at) => [time, at]))
    const tracks = Object.entries(instances).map(([name, reported]) => {
      return [name, reported, new Map(reported.times.map((time, at) => [time, at]))] as const
    })
    for (const [time_s, row] of rowOf) {
      const there = tracks.flatMap(([name, reported, rows]) => {
        const at = rows.get(time_s)
        return at === undefined ? [] : [[name, figuresAt(INSTANCE_COLUMNS, reported, at)] as const]
      })
      this.add(time_s, figuresAt(NODE_COLUMNS, node, row), new Map(there))
    }
  }

  async close(): Promise<void> {
    this.closed = true
    this.timer?.cancel()
    await this.save()
  }

  private async lookOnce(): Promise<void> {
    try {
      // No finer than the times in requests, so that clients can ask for the rest.
      const time_s = Math.round(this.options.sources.clock.now_ms()) / 1000
      const now = await look(this.options.sources)
      if (this.closed) return
      this.add(time_s, nodeFigures(now, this.before), instanceFigures(now, this.before))
      this.before = now
      this.note(undefined)
    } catch (error) {
      this.note(errorText(error))
    }
  }

  /** Adds a row for the node and all instances. */
  private add(time_s: number, node: NodeFigures, instances: ReadonlyMap<string, InstanceFigures>): void {
    // If the clock was set back, rows in the future are dropped.
    for (const [row, time] of this.times.entries()) if (time >= time_s) this.times[row] = NaN
    this.times.copyWithin(0, 1)
    this.times[HISTORY_LOOKS - 1] = time_s
    this.node.add(node)
    for (const name of instances.keys()) this.makeRoom(name)
    for (const [name, track] of this.instances) {
      track.add(instances.get(name))
      if (track.unseen >= HISTORY_LOOKS) this.instances.delete(name)
    }
  }

  /** Makes room for a new instance: forgets the one that has been gone for longest. */
  private makeRoom(name: string): void {
    if (this.instances.has(name)) return
    if (this.instances.size >= HISTORY_INSTANCES_MAX) {
      const [gone] = [...this.instances].sort(([, a], [, b]) => b.unseen - a.unseen)
      if (gone === undefined || gone[1].unseen === 0) return
      this.instances.delete(gone[0])
    }
    this.instances.set(name, new Track(INSTANCE_COLUMNS, HISTORY_LOOKS))
  }

  private rows(since_s: number): number[] {
    return [...this.times].flatMap((time, row) => (time > since_s ? [row] : []))
  }

  private timesOf(rows: readonly number[]): number[] {
    return rows.map((row) => this.times[row] ?? NaN)
  }

  private async save(): Promise<void> {
    this.saved_ms = this.options.sources.clock.monotonic_ms()
    const instances = [...this.instances.keys()].map((name) => [name, this.ofInstance(name, -Infinity)] as const)
    const { log, save } = this.options
    await save({ node: this.ofNode(-Infinity), instances: Object.fromEntries(instances) }).catch((error: unknown) => {
      log.warn({ failure: errorText(error) }, 'the last hours cannot be written down')
    })
  }

  /** Logged when a failure begins and when it ends. */
  private note(failure: string | undefined): void {
    const { log } = this.options
    if (failure !== undefined && !this.failing) log.warn({ failure }, 'nothing was measured')
    if (failure === undefined && this.failing) log.info('it is measured again')
    this.failing = failure !== undefined
  }
}

async function look(sources: NodeSources): Promise<Looked> {
  const [uptime_s, node, instances] = await Promise.all([
    ...([nodeUptime(sources), lookAtNode(sources), lookAtInstances(sources)] as const),
  ])
  return { uptime_s, node, instances }
}

const nodeFigures = ({ uptime_s, node }: Looked, before: Looked | undefined): NodeFigures => ({
  ...node.now,
  ...ratesOf(before?.node.counters, node.counters, uptime_s - (before?.uptime_s ?? NaN)),
})

function instanceFigures({ uptime_s, instances }: Looked, before: Looked | undefined): Map<string, InstanceFigures> {
  const elapsed_s = uptime_s - (before?.uptime_s ?? NaN)
  const figures = [...instances].map(([name, { now, counters, started_s }]) => {
    const known = before?.instances.get(name)
    // A machine that started since the last look has counters that began at zero.
    const isNew = before !== undefined && known?.started_s !== started_s && started_s >= before.uptime_s
    const from = isNew ? zeroOf(counters) : known?.started_s === started_s ? known.counters : undefined
    return [name, { ...now, ...ratesOf(from, counters, elapsed_s) }] as const
  })
  return new Map(figures)
}

const zeroOf = (counters: InstanceLook['counters']): InstanceLook['counters'] => ({
  ...counters,
  ...Object.fromEntries(Object.keys(counters).map((name) => [name, 0])),
})

/** One row of figures. */
function figuresAt<N extends string>(
  columns: readonly N[],
  reported: Readonly<Record<N, readonly (number | null)[]>>,
  at: number,
): Partial<Record<N, number>> {
  const figures: Partial<Record<N, number>> = {}
  for (const name of columns) figures[name] = reported[name][at] ?? NaN
  return figures
}
