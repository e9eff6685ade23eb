// Decides which jobs start next. Pure: it reads no clock and touches no process. An event costs the logarithm of the
// queue's length; only jobs with a filter's rate limit are checked after each event. Following a running job over its
// socket costs nothing, so `max_tracked_jobs` limits nothing here beyond `max_running_jobs`.
import type { JobId } from '../rpc/luxi/calls'
import type { FilterRule } from '../model/filter-rule'
import { type Limit, applyingFilter, limitsOf } from './filters'
import { type Job, jobPriority } from './job'

export interface Selection {
  readonly start: readonly Job[]
  /** Jobs that a filter rejects: they are cancelled. */
  readonly reject: readonly Decided[]
  /** Jobs that a filter holds back from now on. */
  readonly pause: readonly Decided[]
}

interface Decided {
  readonly job: Job
  readonly rule: FilterRule
}

interface Entry {
  job: Job
  priority: number
  /** Unfinished jobs on which it depends. */
  blockers: Set<JobId>
  /** The entry's valid item in the heap; other items are leftovers of earlier priorities. */
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
  /** Not yet checked against rejecting rules, which apply whether a job could start or not. */
  private readonly unjudged = new Set<Entry>()

  get size(): number {
    return this.entries.size
  }

  has(id: JobId): boolean {
    return this.entries.has(id)
  }

  /** Adds a queued job. `blockers` are its unfinished dependencies in the queue. */
  add(job: Job, blockers: Iterable<JobId>): void {
    const entry: Entry = {
      job,
      priority: jobPriority(job),
      blockers: new Set(blockers),
      item: undefined,
      paused: false,
    }
    this.entries.set(job.id, entry)
    this.unjudged.add(entry)
    for (const blocker of entry.blockers) {
      const waiting = this.dependents.get(blocker) ?? new Set()
      this.dependents.set(blocker, waiting.add(job.id))
    }
    this.offer(entry)
  }

  /** Removes a job that starts or was cancelled. False if it was not there. */
  remove(id: JobId): boolean {
    const entry = this.entries.get(id)
    if (entry === undefined) return false
    this.entries.delete(id)
    this.unjudged.delete(entry)
    for (const blocker of entry.blockers) this.dependents.get(blocker)?.delete(id)
    return true
  }

  /** A queued job was changed (its priority). */
  update(job: Job): void {
    const entry = this.entries.get(job.id)
    if (entry === undefined) return
    entry.job = job
    if (entry.priority === jobPriority(job)) return
    entry.priority = jobPriority(job)
    entry.item = undefined
    this.offer(entry)
  }

  /** A job has ended, so its dependents may go on. */
  ended(id: JobId): void {
    for (const dependent of this.dependents.get(id) ?? []) {
      const entry = this.entries.get(dependent)
      entry?.blockers.delete(id)
      if (entry) this.offer(entry)
    }
    this.dependents.delete(id)
  }

  /** The rules have changed: jobs that they held back are checked again. */
  filtersChanged(): void {
    for (const entry of this.entries.values()) {
      this.unjudged.add(entry)
      if (!entry.paused) continue
      entry.paused = false
      this.offer(entry)
    }
  }

  /** Takes at most `room` jobs to start from the queue, most urgent first, then oldest. */
  next(room: number, running: readonly Job[], filters: readonly FilterRule[]): Selection {
    const reject = this.refused(filters)
    const start: Job[] = []
    const pause: Decided[] = []
    const limited: Entry[] = []
    const slots = new Slots(running, filters)
    for (let entry = this.pop(); entry !== undefined; entry = this.pop()) {
      if (start.length >= room) {
        limited.push(entry)
        break
      }
      const rule = applyingFilter(entry.job, filters)
      if (rule?.action === 'PAUSE') {
        entry.paused = true
        pause.push({ job: entry.job, rule })
      } else if (!slots.take(entry.job)) limited.push(entry)
      else {
        this.remove(entry.job.id)
        start.push(entry.job)
      }
    }
    for (const entry of limited) this.offer(entry)
    return { start, reject, pause }
  }

  private refused(filters: readonly FilterRule[]): Selection['reject'] {
    const judged = filters.some(({ action }) => action === 'REJECT') ? [...this.unjudged] : []
    this.unjudged.clear()
    const refused = judged.flatMap(({ job }) => {
      const rule = applyingFilter(job, filters)
      return rule?.action === 'REJECT' ? [{ job, rule }] : []
    })
    for (const { job } of refused) this.remove(job.id)
    return refused
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

/**
 * Counts how many more jobs the limits of rules and reasons allow. Counts the running jobs only when the first limited
 * job comes.
 */
class Slots {
  private taken: Map<string, number> | undefined

  constructor(
    private readonly running: readonly Job[],
    private readonly filters: readonly FilterRule[],
  ) {}

  /** Takes a slot for each of the job's limits, or none if one of them is reached. */
  take(job: Job): boolean {
    const limits = limitsOf(job, this.filters)
    if (limits.length === 0) return true
    const taken = (this.taken ??= this.count())
    if (limits.some(({ key, most }) => (taken.get(key) ?? 0) >= most)) return false
    occupy(taken, limits)
    return true
  }

  private count(): Map<string, number> {
    const taken = new Map<string, number>()
    for (const job of this.running) occupy(taken, limitsOf(job, this.filters))
    return taken
  }
}

function occupy(taken: Map<string, number>, limits: readonly Limit[]): void {
  for (const { key } of limits) taken.set(key, (taken.get(key) ?? 0) + 1)
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
