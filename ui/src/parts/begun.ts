// What was begun on this page and is shown until it has ended well, or its user has seen how it failed: jobs, and runs of many. Jobs are
// remembered while the page is loaded again; nothing that failed is pushed out by what follows.
import type { ReactNode } from 'react'

interface Entry {
  readonly label: string
  /** Whose it is: who signs in later in the same window sees only what is his. */
  readonly user: string
}

export interface BegunJob extends Entry {
  readonly id: number
  /** Begins it again with what was typed; gone when it has ended well, and when the page was loaded again. */
  readonly again?: () => void
}

export interface BegunRun extends Entry {
  readonly key: string
  /** How far it is. */
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
/** Bounds a page that is open for weeks. */
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
    /** It has ended well: what was typed for it may be secret, and is no longer needed. */
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
    // A browser that keeps nothing shows them as long as the page is there.
  }
}

function remembered(storage: Kept | undefined): BegunJob[] {
  try {
    const told: unknown = JSON.parse(storage?.getItem(KEY) ?? '[]')
    return (Array.isArray(told) ? told : []).flatMap((entry: unknown) => jobIn(entry) ?? [])
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
