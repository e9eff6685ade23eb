// Jobs and runs that the user started on this page. Each is shown until it succeeds, or until the user hides its failure. Jobs survive a reload
// of the page. New jobs displace failed ones only beyond `JOBS_MAX`.
import type { ReactNode } from 'react'

interface Entry {
  readonly label: string
  /** The owner. Another user who signs in later in this window does not see it. */
  readonly user: string
}

export interface BegunJob extends Entry {
  readonly id: number
  /** Opens the dialog again with its input. It is dropped after success, and by a reload of the page. */
  readonly again?: () => void
}

export interface BegunRun extends Entry {
  readonly key: string
  /** Shows the progress. */
  readonly view: ReactNode
}

export interface Begun {
  readonly jobs: readonly BegunJob[]
  readonly runs: readonly BegunRun[]
}

interface Kept {
  getItem(key: string): string | null
  setItem(key: string, text: string): void
}

const KEY = 'gantry-begun-jobs'
/** A limit for pages that stay open for weeks. */
export const JOBS_MAX = 100

export function begunStore(storage: Kept | undefined) {
  let now: Begun = { jobs: remembered(storage), runs: [] }
  const watchers = new Set<() => void>()
  const become = (next: Partial<Begun>) => {
    now = { ...now, ...next }
    if (next.jobs !== undefined) remember(storage, next.jobs)
    for (const watcher of watchers) watcher()
  }
  return {
    get: () => now,
    subscribe(watcher: () => void) {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    addJob: (job: BegunJob) => become({ jobs: [...now.jobs.filter(({ id }) => id !== job.id), job].slice(-JOBS_MAX) }),
    /** After success, the typed input is dropped, because it may contain secrets. */
    noteSuccess: (id: number) =>
      become({ jobs: now.jobs.map((job) => (job.id === id ? { ...job, again: undefined } : job)) }),
    hideJob: (id: number) => become({ jobs: now.jobs.filter((job) => job.id !== id) }),
    addRun: (run: BegunRun) => become({ runs: [...now.runs, run] }),
    hideRun: (key: string) => become({ runs: now.runs.filter((run) => run.key !== key) }),
  }
}

function remember(storage: Kept | undefined, jobs: readonly BegunJob[]): void {
  try {
    storage?.setItem(KEY, JSON.stringify(jobs.map(({ id, label, user }) => ({ id, label, user }))))
  } catch {
    // Without storage in the browser, jobs are shown until the page is left.
  }
}

function remembered(storage: Kept | undefined): BegunJob[] {
  try {
    const reported: unknown = JSON.parse(storage?.getItem(KEY) ?? '[]')
    return (Array.isArray(reported) ? reported : []).flatMap((entry: unknown) => jobIn(entry) ?? [])
  } catch {
    return []
  }
}

function jobIn(entry: unknown): BegunJob | undefined {
  const { id, label, user } = Object(entry) as Readonly<Record<string, unknown>>
  return typeof id === 'number' && typeof label === 'string' && typeof user === 'string'
    ? { id, label, user }
    : undefined
}

const tab: Kept | undefined = Reflect.get(globalThis, 'sessionStorage')

export const begun = begunStore(tab)
