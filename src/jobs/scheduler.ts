// Decides which jobs start next. Pure: it reads no clock and touches no process. An event costs the logarithm of the
// queue's length; only jobs with a filter's rate limit are checked after each event. Following a running job over its
// socket costs nothing, so `max_tracked_jobs` limits nothing here beyond `max_running_jobs`.
import TinyQueue from 'tinyqueue'
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
  /** Its ticket in the queue of jobs that may start; undefined while it cannot. */
  ticket: Ticket | undefined
  paused: boolean
}

interface Ticket {
  readonly entry: Entry
  readonly priority: number
  readonly id: JobId
}

export class Scheduler {
  private readonly entries = new Map<JobId, Entry>()
  private readonly dependents = new Map<JobId, Set<JobId>>()
  private readonly ready = new ReadyQueue()
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
      ticket: undefined,
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
    this.ready.remove(entry)
    for (const blocker of entry.blockers) this.dependents.get(blocker)?.delete(id)
    return true
  }

  /** A queued job was changed (its priority). */
  update(job: Job): void {
    const entry = this.entries.get(job.id)
    if (entry === undefined) return
    entry.job = job
    if (entry.priority === jobPriority(job)) return
    this.ready.remove(entry)
    entry.priority = jobPriority(job)
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
    for (let entry = this.ready.pop(); entry !== undefined; entry = this.ready.pop()) {
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
    if (entry.blockers.size === 0 && !entry.paused && entry.ticket === undefined) this.ready.push(entry)
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

/** Stale tickets that the queue may hold besides as many as there are jobs in it. */
const STALE_MIN = 64

/**
 * The most urgent and oldest first. A job that leaves from the middle leaves its ticket behind, which is passed over
 * later; when most tickets are stale, the queue is built anew.
 */
class ReadyQueue {
  private queue = new TinyQueue<Ticket>([], compareTickets)
  private size = 0

  push(entry: Entry): void {
    entry.ticket = { entry, priority: entry.priority, id: entry.job.id }
    this.queue.push(entry.ticket)
    this.size++
  }

  pop(): Entry | undefined {
    for (let ticket = this.queue.pop(); ticket !== undefined; ticket = this.queue.pop()) {
      if (isStale(ticket)) continue
      ticket.entry.ticket = undefined
      this.size--
      return ticket.entry
    }
    return undefined
  }

  remove(entry: Entry): void {
    if (entry.ticket === undefined) return
    entry.ticket = undefined
    this.size--
    if (this.queue.length <= 2 * this.size + STALE_MIN) return
    const valid = this.queue.data.filter((ticket) => !isStale(ticket))
    this.queue = new TinyQueue(valid, compareTickets)
  }
}

const isStale = (ticket: Ticket): boolean => ticket.entry.ticket !== ticket

function compareTickets(a: Ticket, b: Ticket): number {
  return a.priority - b.priority || a.id - b.id
}
