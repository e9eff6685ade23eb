// The history of events: bounded, durable, numbered without gaps. Readers see an event when it is in the file. A reader
// that comes back with the id of its last event gets the later ones, or learns that some are missing.
import { type Clock, seconds, within } from '../../lib/clock'
import type { Appender, Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { quarantine } from '../../lib/file/quarantine'
import { SET_ASIDE_MAX } from '../../model/limits/daemons'
import { EVENTS_BYTES_MAX, EVENTS_COMMIT_S, EVENTS_KEPT_MAX, EVENTS_RETRY_S } from '../../model/limits/events'
import { isObject } from '../../lib/shapes/shape'
import { OpPrereqError } from '../../model/errors'
import type { ClusterEvent } from '../../rpc/luxi/gantry'

export type NewEvent = Omit<ClusterEvent, 'id' | 'time'>

export interface HistoryOptions {
  file: string
  disk: Disk
  clock: Clock
  log: Log
}

interface Entry {
  readonly event: ClusterEvent
  /** The length of the event's line in the file. */
  readonly bytes: number
}

export class EventHistory {
  private readonly waiting = new Set<() => void>()
  private kept: readonly Entry[] = []
  private fresh: Entry[] = []
  private freshBytes = 0
  private seq = 0
  private told = 0
  private inFile = 0
  /** Undefined while the file lacks some kept events. */
  private appender: Appender | undefined
  private writing: Promise<void> | undefined
  /** The time of the next attempt after the file could not be written. */
  private retry_ms: number | undefined
  private closed = false

  private constructor(
    private readonly options: HistoryOptions,
    readonly epoch: string,
  ) {}

  /** Continues an existing history, and notes the gap while nobody kept it. Replaces an unreadable history by a new one. */
  static async open(options: HistoryOptions): Promise<EventHistory> {
    const { epoch, events, lost } = await formerEvents(options)
    const history = new EventHistory(options, epoch ?? Math.floor(options.clock.now_ms()).toString(36))
    history.kept = newest(events.map(entryOf))
    history.seq = history.told = seqOf(history.kept.at(-1)?.event.id ?? '')
    await history.save(() => history.rewrite())
    if (epoch !== undefined || lost)
      history.add({ type: 'gap', objects: [], data: { reason: lost ? LOST : 'the master daemon was restarted' } })
    return history
  }

  add(event: NewEvent): void {
    if (this.closed) return
    const id = `${this.epoch}-${++this.seq}`
    const entry = entryOf({ id, time: seconds(this.options.clock), ...event })
    this.fresh.push(entry)
    this.freshBytes += entry.bytes
    // The events wait for a slow disk.
    if (this.fresh.length > 2 * EVENTS_KEPT_MAX || this.freshBytes > 2 * EVENTS_BYTES_MAX) {
      this.fresh = newest(this.fresh)
      this.freshBytes = bytesOf(this.fresh)
    }
    this.writing ??= this.write().finally(() => (this.writing = undefined))
  }

  /** The id of the newest published event. */
  get last(): string {
    return `${this.epoch}-${this.told}`
  }

  /** Returns the events after the given one, and the reason if some are missing. */
  since(after: string): { events: readonly ClusterEvent[]; gap: string | null } {
    const [epoch, seq] = [after.slice(0, after.lastIndexOf('-')), seqOf(after)]
    const none = (gap: string) => ({ events: [], gap })
    if (epoch !== this.epoch) return none(COUNTED_ANEW)
    if (seq > this.told) return none('the event is not known')
    // Events that are still being written are already in `kept`, but not published.
    const [first] = this.kept
    const before = first === undefined ? this.told : seqOf(first.event.id) - 1
    if (seq < before) return none(`only the last ${this.kept.length} events are kept`)
    return { events: this.kept.slice(seq - before, this.told - before).map(({ event }) => event), gap: null }
  }

  /** All kept and published events. */
  all(): readonly ClusterEvent[] {
    return this.kept.flatMap(({ event }) => (seqOf(event.id) <= this.told ? [event] : []))
  }

  /**
   * Returns the events before the given one, or all, newest first. Refuses an id of another numbering, because its position is not known.
   */
  *back(before: string | null): Generator<ClusterEvent> {
    if (before !== null && !before.startsWith(`${this.epoch}-`))
      throw new OpPrereqError(`${COUNTED_ANEW}: ask without \`after\``)
    const end = before === null ? this.told + 1 : seqOf(before)
    for (let at = this.kept.length - 1; at >= 0; at--) {
      const event = this.kept[at]?.event
      if (event !== undefined && seqOf(event.id) <= this.told && seqOf(event.id) < end) yield event
    }
  }

  /** Resolves when there is a new event, or after this time. */
  async change(timeout_s: number): Promise<void> {
    let wake: () => void = () => undefined
    const news = new Promise<void>((resolve) => (wake = resolve))
    this.waiting.add(wake)
    await within(this.options.clock, timeout_s, news)
    this.waiting.delete(wake)
  }

  async close(): Promise<void> {
    this.closed = true
    this.wakeAll()
    await this.writing
    await this.appender?.close()
  }

  private async write(): Promise<void> {
    while (this.fresh.length > 0) {
      // Waits a moment to write several events together, because the disk has more urgent work.
      if (!this.closed) await this.options.clock.sleep(EVENTS_COMMIT_S * 1000)
      const batch = this.fresh
      this.fresh = []
      this.freshBytes = 0
      // If more events came than we keep, the oldest were dropped. Then nothing before this batch may stay either.
      const before = seqOf(batch[0]?.event.id ?? '') === this.told + 1 ? this.kept : []
      this.kept = newest([...before, ...batch])
      await this.save(() => this.append(batch))
      this.told = seqOf(batch.at(-1)?.event.id ?? '')
      this.wakeAll()
    }
  }

  private async append(batch: readonly Entry[]): Promise<void> {
    const { appender, retry_ms = -Infinity } = this
    if (this.options.clock.monotonic_ms() < retry_ms) return
    const isLong = this.inFile > 2 * EVENTS_KEPT_MAX || (appender?.size() ?? 0) > 2 * EVENTS_BYTES_MAX
    if (appender === undefined || isLong) return this.rewrite()
    this.inFile += batch.length
    await appender.append(Buffer.from(linesOf(batch)))
  }

  private async rewrite(): Promise<void> {
    const { disk, file } = this.options
    await this.letGo()
    await disk.write(file, toLine({ epoch: this.epoch }) + linesOf(this.kept))
    this.appender = await disk.openAppender(file)
    this.inFile = this.kept.length
  }

  /**
   * Events are published even while their file cannot be written. The file is then out of date, and a restart would
   * continue from an older event. So the file is removed until it can be rewritten completely.
   */
  private async save(action: () => Promise<void>): Promise<void> {
    const { disk, file, log, clock } = this.options
    try {
      await action()
      if (this.appender !== undefined) this.retry_ms = undefined
    } catch (error) {
      if (this.retry_ms === undefined)
        log.error({ err: error }, 'the history of events cannot be written; it is kept in memory')
      this.retry_ms = clock.monotonic_ms() + EVENTS_RETRY_S * 1000
      await this.letGo()
      await disk.remove(file).catch(() => undefined)
    }
  }

  private async letGo(): Promise<void> {
    const { appender } = this
    this.appender = undefined
    await appender?.close().catch(() => undefined)
  }

  private wakeAll(): void {
    for (const wake of this.waiting) wake()
  }
}

const COUNTED_ANEW = 'the events have a new numbering, because another master keeps them or the history was lost'
const LOST = 'the history of events could not be read, so a new one begins'

/** The newest ones, up to the limit. */
function newest(entries: readonly Entry[]): Entry[] {
  const last = entries.slice(-EVENTS_KEPT_MAX)
  let bytes = bytesOf(last)
  const from = last.findIndex((entry) => {
    const fits = bytes <= EVENTS_BYTES_MAX
    bytes -= entry.bytes
    return fits
  })
  return from === -1 ? [] : last.slice(from)
}

const bytesOf = (entries: readonly Entry[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0)

const entryOf = (event: ClusterEvent): Entry => ({ event, bytes: Buffer.byteLength(toLine(event)) })

const linesOf = (entries: readonly Entry[]): string => entries.map(({ event }) => toLine(event)).join('')

const toLine = (value: object): string => JSON.stringify(value) + '\n'

const seqOf = (id: string): number => Number(/-(\d{1,15})$/.exec(id)?.[1] ?? 0)

/** Reads the events of an earlier keeper. An unreadable file is set aside. */
async function formerEvents({ file, disk, clock, log }: HistoryOptions): Promise<Former & { readonly lost: boolean }> {
  try {
    const data = await disk.read(file, 4 * EVENTS_BYTES_MAX)
    const former = parseHistory(data?.toString('utf8') ?? '')
    if (data === undefined || former.epoch !== undefined) return { ...former, lost: false }
    log.error({ file }, 'the event history is unreadable, so a new one begins')
  } catch (error) {
    log.error({ file, err: error }, 'the history of events cannot be read, so a new one begins')
  }
  await quarantine(file, 'rejected', { disk, clock, most: SET_ASIDE_MAX }).catch((error: unknown) => {
    log.error({ file, err: error }, 'the history of events cannot be set aside')
  })
  return { events: [], lost: true }
}

interface Former {
  /** Undefined if the file is not a history. */
  readonly epoch?: string | undefined
  readonly events: readonly ClusterEvent[]
}

/**
 * A torn last line was never published. If any other line is wrong, events are missing whose ids must not be used
 * again.
 */
function parseHistory(text: string): Former {
  const [head = '', ...lines] = text.split('\n')
  const header = parseLine(head)
  const epoch = isObject(header) && typeof header['epoch'] === 'string' ? header['epoch'] : undefined
  const events: ClusterEvent[] = []
  for (const text of lines.slice(0, -1)) {
    const event = parseLine(text)
    const last = events.at(-1)
    if (!isEvent(event) || (last !== undefined && seqOf(event.id) !== seqOf(last.id) + 1)) return { events: [] }
    events.push(event)
  }
  return { epoch, events }
}

function isEvent(value: unknown): value is ClusterEvent {
  return (
    isObject(value) && typeof value['id'] === 'string' && isObject(value['data']) && Array.isArray(value['objects'])
  )
}

function parseLine(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
