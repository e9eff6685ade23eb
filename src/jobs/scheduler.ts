// Which jobs start next: pure, it reads no clock and touches no process. One event costs the logarithm of the queue's length;
// only jobs that a filter rate-limits are looked at again after each event. Every job that runs is followed over its own
// socket, which costs nothing, so `max_tracked_jobs` limits nothing here beyond `max_running_jobs`.
import type { JobId } from '../rpc/luxi/calls'
import { type JobFilter, applyingFilter } from './filters'
import { type Job, jobPriority } from './job'

export interface Selection {
  readonly start: readonly Job[]
  /** Jobs that a filter refuses: they are cancelled. */
  readonly reject: readonly Job[]
}

interface Entry {
  job: Job
  priority: number
  /** Jobs it depends on that have not ended. */
  blockers: Set<JobId>
  /** The heap holds one valid item for the entry, others are leftovers of earlier priorities. */
  item: Item | undefined
  paused: boolean
}

interface Item {
  readonly priority: number
  readonly id: JobId
}

export class Scheduler {
  private readonly entries = new Map<JobId, Entry>()
  private readonly dependents = new Map<JobId, Set<JobId>>()
  private readonly heap = new Heap()

  get size(): number {
    return this.entries.size
  }

  has(id: JobId): boolean {
    return this.entries.has(id)
  }

  /** Takes in a queued job. `blockers` are those of its dependencies that are still in the queue and have not ended. */
  add(job: Job, blockers: Iterable<JobId>): void {
    const entry: Entry = {
      job,
      priority: jobPriority(job),
      blockers: new Set(blockers),
      item: undefined,
      paused: false,
    }
    this.entries.set(job.id, entry)
    for (const blocker of entry.blockers) {
      const waiting = this.dependents.get(blocker) ?? new Set()
      this.dependents.set(blocker, waiting.add(job.id))
    }
    this.offer(entry)
  }

  /** The job leaves the queue: it starts, or was cancelled. False when it was not there. */
  remove(id: JobId): boolean {
    const entry = this.entries.get(id)
    if (entry === undefined) return false
    this.entries.delete(id)
    for (const blocker of entry.blockers) this.dependents.get(blocker)?.delete(id)
    return true
  }

  /** The queued job was changed (its priority). */
  update(job: Job): void {
    const entry = this.entries.get(job.id)
    if (entry === undefined) return
    entry.job = job
    if (entry.priority === jobPriority(job)) return
    entry.priority = jobPriority(job)
    entry.item = undefined
    this.offer(entry)
  }

  /** A job has ended, in whichever way: what waited for it may go on. */
  ended(id: JobId): void {
    for (const dependent of this.dependents.get(id) ?? []) {
      const entry = this.entries.get(dependent)
      entry?.blockers.delete(id)
      if (entry) this.offer(entry)
    }
    this.dependents.delete(id)
  }

  /** The rules have changed: what they held back is looked at anew. */
  filtersChanged(): void {
    for (const entry of this.entries.values()) {
      if (!entry.paused) continue
      entry.paused = false
      this.offer(entry)
    }
  }

  /** At most `room` jobs to start, the most urgent first and the oldest of those. They leave the queue. */
  next(room: number, running: readonly Job[], filters: readonly JobFilter[]): Selection {
    const start: Job[] = []
    const reject: Job[] = []
    const limited: Entry[] = []
    const slots = takenSlots(running, filters)
    for (let entry = this.pop(); entry !== undefined; entry = this.pop()) {
      if (start.length >= room) {
        limited.push(entry)
        break
      }
      const verdict = judge(entry.job, filters, slots)
      if (verdict === 'limit') limited.push(entry)
      else if (verdict === 'pause') entry.paused = true
      else {
        this.remove(entry.job.id)
        if (verdict === 'start') start.push(entry.job)
        else reject.push(entry.job)
      }
    }
    for (const entry of limited) this.offer(entry)
    return { start, reject }
  }

  private offer(entry: Entry): void {
    if (entry.blockers.size > 0 || entry.paused || entry.item !== undefined) return
    entry.item = { priority: entry.priority, id: entry.job.id }
    this.heap.push(entry.item)
  }

  private pop(): Entry | undefined {
    for (let item = this.heap.pop(); item !== undefined; item = this.heap.pop()) {
      const entry = this.entries.get(item.id)
      if (entry?.item !== item) continue
      entry.item = undefined
      return entry
    }
    return undefined
  }
}

/** How many running jobs each rate-limiting rule already counts. */
function takenSlots(running: readonly Job[], filters: readonly JobFilter[]): Map<string, number> {
  const slots = new Map<string, number>()
  if (!filters.some((filter) => typeof filter.action === 'object')) return slots
  for (const job of running) {
    const filter = applyingFilter(job, filters)
    if (filter) slots.set(filter.uuid, (slots.get(filter.uuid) ?? 0) + 1)
  }
  return slots
}

function judge(
  job: Job,
  filters: readonly JobFilter[],
  slots: Map<string, number>,
): 'start' | 'reject' | 'pause' | 'limit' {
  const filter = filters.length === 0 ? undefined : applyingFilter(job, filters)
  if (filter === undefined || filter.action === 'ACCEPT') return 'start'
  if (filter.action === 'REJECT') return 'reject'
  if (filter.action === 'PAUSE') return 'pause'
  const taken = slots.get(filter.uuid) ?? 0
  if (typeof filter.action === 'object' && taken >= filter.action[1]) return 'limit'
  slots.set(filter.uuid, taken + 1)
  return 'start'
}

/** A binary heap of items, the most urgent and oldest first. */
class Heap {
  private readonly items: Item[] = []

  push(item: Item): void {
    const { items } = this
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = items[parent]
      if (above === undefined || before(above, item)) break
      items[at] = above
      at = parent
    }
    items[at] = item
  }

  pop(): Item | undefined {
    const { items } = this
    const first = items[0]
    const last = items.pop()
    if (last === undefined || items.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const [left, right] = [items[child], items[child + 1]]
      if (left === undefined) break
      if (right !== undefined && before(right, left)) child++
      const least = items[child]
      if (least === undefined || before(last, least)) break
      items[at] = least
      at = child
    }
    items[at] = last
    return first
  }
}

const before = (a: Item, b: Item): boolean => a.priority < b.priority || (a.priority === b.priority && a.id < b.id)
