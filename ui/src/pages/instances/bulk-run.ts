// A run of the same action over many instances: a job for each, submitted a few at a time, whatever becomes of the dialog that began it. What
// is in the way of all of them is waited for. Jobs that have ended are not asked for again, so that the questions grow with what is under way.

/** A job, as far as a run looks at it. */
export interface Looked {
  readonly id: number
  readonly status: string
  /** Why it has failed. */
  readonly why?: string
}

export interface Doors {
  /** The same key is the same submission, however often it is sent. */
  submit(this: void, name: string, key: string): Promise<number>
  /** Resolves when what was in the way may be gone; undefined when the answer is about this one. */
  cleared(this: void, error: unknown): Promise<void> | undefined
  /** Those jobs, without the archived ones. */
  jobs(this: void, ids: readonly number[]): Promise<readonly Looked[]>
  /** Any job; undefined when it is no longer kept. */
  job(this: void, id: number): Promise<Looked | undefined>
}

export interface Failure {
  readonly name: string
  readonly job?: number
  readonly why: string
}

export interface Progress {
  readonly total: number
  readonly done: number
  readonly failed: number
  /** The first of them. */
  readonly failures: readonly Failure[]
  /** Why some are not submitted yet. */
  readonly obstacle?: string
  readonly over: boolean
}

interface Words {
  readonly failed: string
  readonly canceled: string
  /** Nobody knows how its job has ended. */
  readonly gone: string
}

const AT_ONCE = 4
/** Jobs that one look asks for. */
export const LOOKED_AT_MAX = 1000
export const FAILURES_TOLD_MAX = 100
/** A page that draws each of thousands has no time for anything else. */
const TELL_EVERY_MS = 250

export class BulkRun {
  private readonly waiting: string[]
  /** By instance, what is in its way. */
  private readonly held = new Map<string, string>()
  /** By number, the instances whose jobs have not ended as far as it is known. */
  private readonly open = new Map<number, string>()
  private readonly failures: Failure[] = []
  private readonly watchers = new Set<() => void>()
  private done = 0
  private now: Progress | undefined
  private telling: ReturnType<typeof setTimeout> | undefined

  constructor(
    private readonly names: readonly string[],
    private readonly doors: Doors,
    private readonly words: Words,
  ) {
    this.waiting = [...names]
  }

  get = (): Progress => (this.now ??= this.made())

  subscribe = (watcher: () => void) => {
    this.watchers.add(watcher)
    return () => void this.watchers.delete(watcher)
  }

  /** Ends when all are submitted, or refused. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.submitAll()))
    // A job may have ended before its number was known here: nobody would tell of it again.
    await this.look().catch(() => undefined)
  }

  /** Asks how those that are under way are, the oldest first. */
  async look(): Promise<void> {
    const ids = [...this.open.keys()].slice(0, LOOKED_AT_MAX)
    if (ids.length === 0) return
    for (const job of await this.listed(ids)) this.note(job)
    this.tell()
  }

  private async listed(ids: readonly number[]): Promise<readonly Looked[]> {
    const jobs = await this.doors.jobs(ids)
    const found = new Set(jobs.map(({ id }) => id))
    const archived: Looked[] = []
    for (const id of ids) if (!found.has(id)) archived.push((await this.doors.job(id)) ?? { id, status: GONE })
    return [...jobs, ...archived]
  }

  private async submitAll(): Promise<void> {
    for (let name = this.waiting.shift(); name !== undefined; name = this.waiting.shift()) {
      await this.submit(name)
      this.tell()
    }
  }

  private async submit(name: string): Promise<void> {
    const key = crypto.randomUUID()
    for (;;) {
      try {
        this.open.set(await this.doors.submit(name, key), name)
        this.held.delete(name)
        return
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        const cleared = this.doors.cleared(error)
        if (cleared === undefined) {
          this.held.delete(name)
          this.failures.push({ name, why })
          return
        }
        this.held.set(name, why)
        this.tell()
        await cleared
      }
    }
  }

  private note({ id, status, why }: Looked): void {
    const name = this.open.get(id)
    if (name === undefined || !ENDED.includes(status)) return
    this.open.delete(id)
    const { failed, canceled, gone } = this.words
    if (status === 'success') this.done++
    else this.failures.push({ name, job: id, why: why ?? { canceled, [GONE]: gone }[status] ?? failed })
  }

  private tell(): void {
    this.now = undefined
    this.telling ??= setTimeout(() => {
      this.telling = undefined
      for (const watcher of this.watchers) watcher()
    }, TELL_EVERY_MS)
  }

  private made(): Progress {
    const { names, done, failures, held } = this
    const [obstacle] = held.values()
    const counts = { total: names.length, done, failed: failures.length }
    const over = done + failures.length === names.length
    return { ...counts, failures: failures.slice(0, FAILURES_TOLD_MAX), obstacle, over }
  }
}

const GONE = 'gone'
const ENDED = ['success', 'error', 'canceled', GONE]
