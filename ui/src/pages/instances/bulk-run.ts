// A run of one action over many instances. It submits a job for each, a few at a time, and continues after its dialog is closed. If a problem
// affects all submissions, the run waits until it is gone. Ended jobs are not queried again, so the cost depends on the open jobs only.

/** The part of a job that a run needs. */
export interface Looked {
  readonly id: number
  readonly status: string
  /** Why the job has failed. */
  readonly why?: string
}

export interface Doors {
  /** A submission with the same key runs only once. */
  submit(this: void, name: string, key: string): Promise<number>
  /** Resolves when a problem of all submissions may be gone; undefined if the error concerns this instance only. */
  cleared(this: void, error: unknown): Promise<void> | undefined
  /** These jobs, without archived ones. */
  jobs(this: void, ids: readonly number[]): Promise<readonly Looked[]>
  /** Any job; undefined if it is no longer stored. */
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
  /** Only the first failures. */
  readonly failures: readonly Failure[]
  /** Why the run waits with submissions. */
  readonly obstacle?: string
  readonly over: boolean
}

interface Words {
  readonly failed: string
  readonly canceled: string
  /** The text for a job whose result is unknown. */
  readonly gone: string
}

const AT_ONCE = 4
/** How many jobs one look queries. */
export const LOOKED_AT_MAX = 1000
export const FAILURES_TOLD_MAX = 100
/** Progress is reported at most this often, because rendering each of thousands of steps would block the page. */
const TELL_EVERY_MS = 250

export class BulkRun {
  private readonly waiting: string[]
  /** By instance, the problem that delays its submission. */
  private readonly held = new Map<string, string>()
  /** Instances by the number of their open job. */
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

  /** Resolves when every instance was submitted or refused. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: AT_ONCE }, () => this.submitAll()))
    // Jobs may have ended before their numbers were known here, and no further event would report this.
    await this.look().catch(() => undefined)
  }

  /** Queries the state of open jobs, the oldest first. */
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
