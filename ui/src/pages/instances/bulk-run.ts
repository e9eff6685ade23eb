// A run of the same action over many instances: a job for each, submitted a few at a time, whatever becomes of the dialog that began it. Jobs
// that have ended are not asked for again, so that the questions grow with what is under way.
import type { components } from '../../api/schema'

type Job = components['schemas']['Job']

export interface Doors {
  submit(this: void, name: string): Promise<number>
  /** Those jobs, without why they failed. */
  jobs(this: void, ids: readonly number[]): Promise<readonly Job[]>
  /** Why one has failed. */
  reason(this: void, id: number): Promise<string | undefined>
}

export interface Failure {
  readonly name: string
  readonly job?: number
  readonly why: string
}

export interface Progress {
  readonly total: number
  readonly done: number
  readonly failures: readonly Failure[]
  /** All are submitted, or refused. */
  readonly submitted: boolean
  readonly over: boolean
}

const AT_ONCE = 4
/** Jobs that one look asks for, and for how many the reason of a failure is asked: the others are only said to have failed. */
export const LOOKED_AT_MAX = 1000
export const REASONS_MAX = 50

export class BulkRun {
  private readonly waiting: string[]
  /** By number, the instances whose jobs have not ended as far as it is known. */
  private readonly open = new Map<number, string>()
  private readonly failures: Failure[] = []
  private readonly watchers = new Set<() => void>()
  private submitting = AT_ONCE
  private reasons = 0
  private done = 0
  private now: Progress

  constructor(
    private readonly names: readonly string[],
    private readonly doors: Doors,
    private readonly words: { readonly failed: string; readonly canceled: string },
  ) {
    this.waiting = [...names]
    this.now = this.made()
  }

  get = (): Progress => this.now

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher)
    return () => void this.watchers.delete(watcher)
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.submitNext()))
    // A job may have ended before its number was known here: nobody would tell of it again.
    await this.look().catch(() => undefined)
  }

  /** Asks how those that are under way are, the oldest first. */
  async look(): Promise<void> {
    const ids = [...this.open.keys()].slice(0, LOOKED_AT_MAX)
    if (ids.length === 0) return
    for (const job of await this.doors.jobs(ids)) await this.note(job)
    this.tell()
  }

  private async submitNext(): Promise<void> {
    for (let name = this.waiting.shift(); name !== undefined; name = this.waiting.shift()) {
      try {
        this.open.set(await this.doors.submit(name), name)
      } catch (error) {
        this.failures.push({ name, why: error instanceof Error ? error.message : String(error) })
      }
      this.tell()
    }
    this.submitting--
    this.tell()
  }

  private async note({ id, status }: Job): Promise<void> {
    const name = this.open.get(id)
    if (name === undefined || !ENDED.includes(status)) return
    this.open.delete(id)
    if (status === 'success') {
      this.done++
      return
    }
    const word = status === 'canceled' ? this.words.canceled : this.words.failed
    const why = this.reasons++ < REASONS_MAX ? await this.doors.reason(id).catch(() => undefined) : undefined
    this.failures.push({ name, job: id, why: why ?? word })
  }

  private tell(): void {
    this.now = this.made()
    for (const watcher of this.watchers) watcher()
  }

  private made(): Progress {
    const { names, done, failures } = this
    const over = done + failures.length === names.length
    return { total: names.length, done, failures: [...failures], submitted: this.submitting === 0, over }
  }
}

const ENDED = ['success', 'error', 'canceled']
