// The history of events: bounded, durable, numbered without holes. An event is told when it is in the file; who comes back with the
// id of the last one that he saw gets what followed, or is told that something is missing.
import { type Clock, seconds, within } from '../lib/clock'
import type { Appender, Disk } from '../lib/disk'
import type { Log } from '../lib/log'
import { EVENTS_COMMIT_S, EVENTS_KEPT_MAX } from '../model/limits'
import { isObject } from '../opcodes/check'
import type { ClusterEvent } from '../rpc/luxi/gantry'

export type NewEvent = Omit<ClusterEvent, 'id' | 'time'>

export interface HistoryOptions {
  file: string
  disk: Disk
  clock: Clock
  log: Log
}

export class EventHistory {
  private readonly waiting = new Set<() => void>()
  private kept: ClusterEvent[] = []
  private fresh: ClusterEvent[] = []
  private seq = 0
  private told = 0
  private inFile = 0
  private appender: Appender | undefined
  private writing: Promise<void> | undefined
  private closed = false

  private constructor(
    private readonly options: HistoryOptions,
    readonly epoch: string,
  ) {}

  /** A history that was there before goes on, and says that its keeper was away. */
  static async open(options: HistoryOptions): Promise<EventHistory> {
    const { disk, file, clock } = options
    const { epoch, events } = parseHistory((await disk.read(file))?.toString('utf8') ?? '')
    const history = new EventHistory(options, epoch ?? Math.floor(clock.now_ms()).toString(36))
    history.kept = events.slice(-EVENTS_KEPT_MAX)
    history.seq = history.told = seqOf(history.kept.at(-1)?.id ?? '')
    await history.rewrite()
    if (epoch !== undefined)
      history.add({ type: 'gap', objects: [], data: { reason: 'the master daemon was restarted' } })
    return history
  }

  add(event: NewEvent): void {
    if (this.closed) return
    const id = `${this.epoch}-${++this.seq}`
    this.fresh.push({ id, time: seconds(this.options.clock), ...event })
    this.writing ??= this.write().finally(() => (this.writing = undefined))
  }

  /** The id of the newest event that was told. */
  get last(): string {
    return `${this.epoch}-${this.told}`
  }

  /** What followed an event, and why something is missing, if it is. */
  since(after: string): { events: readonly ClusterEvent[]; gap: string | null } {
    const [epoch, seq] = [after.slice(0, after.lastIndexOf('-')), seqOf(after)]
    const none = (gap: string) => ({ events: [], gap })
    if (epoch !== this.epoch) return none('the events are counted anew: another master, or its history was lost')
    if (seq > this.told) return none('the event is not known')
    const oldest = this.told - this.kept.length
    if (seq < oldest) return none(`only the last ${this.kept.length} events are kept`)
    return { events: this.kept.slice(seq - oldest), gap: null }
  }

  /** Resolves when there is something new, or after that time. */
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
    const { clock, log } = this.options
    while (this.fresh.length > 0) {
      // What comes within a moment goes out together: the disk has more urgent work.
      if (!this.closed) await clock.sleep(EVENTS_COMMIT_S * 1000)
      const batch = this.fresh.splice(0)
      this.kept = [...this.kept, ...batch].slice(-EVENTS_KEPT_MAX)
      try {
        if (this.inFile > 2 * EVENTS_KEPT_MAX) await this.rewrite()
        else await this.appender?.append(Buffer.from(batch.map(line).join('')))
      } catch (error) {
        log.error({ err: error }, 'the history of events cannot be written')
      }
      this.inFile += batch.length
      this.told += batch.length
      this.wakeAll()
    }
  }

  private async rewrite(): Promise<void> {
    const { disk, file } = this.options
    await this.appender?.close()
    await disk.write(file, line({ epoch: this.epoch }) + this.kept.map(line).join(''))
    this.appender = await disk.openAppender(file)
    this.inFile = this.kept.length
  }

  private wakeAll(): void {
    for (const wake of this.waiting) wake()
  }
}

const line = (value: object): string => JSON.stringify(value) + '\n'

const seqOf = (id: string): number => Number(/-(\d{1,15})$/.exec(id)?.[1] ?? 0)

/** A torn last line is dropped, and so is what does not follow. */
function parseHistory(text: string): { epoch: string | undefined; events: ClusterEvent[] } {
  const [head = '', ...lines] = text.split('\n')
  const header = parseLine(head)
  const epoch = isObject(header) && typeof header['epoch'] === 'string' ? header['epoch'] : undefined
  const events: ClusterEvent[] = []
  if (epoch === undefined) return { epoch, events }
  for (const text of lines) {
    const event = parseLine(text)
    if (!isEvent(event)) break
    if (events.length > 0 && seqOf(event.id) !== seqOf(events.at(-1)?.id ?? '') + 1) break
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
