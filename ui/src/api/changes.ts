// Refetches what has changed according to events. Objects are refetched soon. Lists are refetched at intervals, which are longer for slow lists.
import type { Query, QueryClient, QueryFilters } from '@tanstack/react-query'
import type { ClusterEvent } from './event-stream'
import { type ToldLine, withLines } from './log-lines'
import type { components } from './schema'

type Job = components['schemas']['Job']

/** The first word of query keys, by the kind of object in events. */
const RESOURCE: Readonly<Record<string, string>> = {
  instance: 'instances',
  node: 'nodes',
  group: 'groups',
  network: 'networks',
  job: 'jobs',
  disk: 'instances',
  filter: 'filters',
  token: 'tokens',
}

/** Events of these types do not refresh lists of past events, which do not show them. */
const OF_JOBS: ReadonlySet<string> = new Set(['job', 'log'])

/** Further lists to refetch, by the kind of a changed object, */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  job: ['locks'],
  // They count instances.
  instance: ['tags', 'nodes', 'groups'],
  node: ['tags', 'maintenance', 'groups'],
  group: ['tags'],
  network: ['tags'],
  cluster: ['tags', 'os', 'maintenance'],
}

/** and when there was an event of a type. */
const ALSO_AFTER: Readonly<Record<string, readonly string[]>> = {
  maintenance: ['maintenance'],
  // A node that falls silent or changes its role changes the status of its instances.
  node: ['nodes', 'instances', 'exports', 'monitoring'],
  watcher: ['watcher', 'monitoring'],
  // Events are missing.
  gap: ['monitoring'],
}

/** and when an opcode has ended that changes what no event tells of. */
const ALSO_AFTER_OPCODE: Readonly<Record<string, readonly string[]>> = {
  OP_BACKUP_EXPORT: ['exports'],
  OP_BACKUP_REMOVE: ['exports'],
}

/** The `meta` of lists of nodes and groups that tell nothing of their instances. */
export const WITHOUT_INSTANCES = { ofInstances: false }
const OF_INSTANCES: ReadonlySet<string> = new Set(['instance', 'disk'])

const TOGETHER_MS = 250
const LISTS_EVERY_MS = 1000
/** A job that begins to wait requests its locks only when its process is up, and no event reports that. */
const LOCKS_LATER_MS = 3000
/** All nodes are asked for it. */
const MONITORING_EVERY_MS = 15_000
/** After a slow list was loaded, the page waits this many times its loading time. */
const REST = 3

/** These objects list instances. They have no event of their own when an instance moves. */
const HOLDERS: ReadonlySet<unknown> = new Set(['nodes', 'groups', 'networks'])
const hasInstances = ([resource, one, , ...more]: readonly unknown[]): boolean =>
  HOLDERS.has(resource) && one === 'one' && more.length === 0

/** Nor does an instance change when its node stops answering, but its status does. */
const ofNodes = ([resource, one, , ...more]: readonly unknown[]): boolean =>
  resource === 'instances' && one === 'one' && more.length === 0

/** A list that is loading, or was loaded a moment ago. */
interface List {
  /** The kinds of objects and types of events because of which it may have changed since. */
  readonly causes: Set<string>
}

/** Each list is refetched separately, so that a list that asks all nodes delays no other list. */
export class Changes {
  private readonly objects = new Set<string>()
  /** By job: what it has logged since jobs were asked for anew. */
  private readonly lines = new Map<number, ToldLine[]>()
  private objectsTimer: ReturnType<typeof setTimeout> | undefined
  private locksTimer: ReturnType<typeof setTimeout> | undefined
  private readonly lists = new Map<string, List>()
  /** Queries to repeat after their present request. */
  private readonly late = new Set<Query>()
  private isClosed = false

  constructor(
    private readonly client: Pick<QueryClient, 'invalidateQueries' | 'isFetching' | 'getQueryCache' | 'setQueryData'>,
  ) {}

  note({ type, objects, ended = [], line }: ClusterEvent): void {
    if (line !== undefined) return this.noteLine(line)
    if (type === 'job') this.noteLocksLater()
    for (const list of ALSO_AFTER[type] ?? []) this.noteList(list, `event ${type}`)
    if (!OF_JOBS.has(type)) this.noteList('events', type)
    for (const opcode of ended) for (const list of ALSO_AFTER_OPCODE[opcode] ?? []) this.noteList(list, opcode)
    for (const object of objects) {
      const [kind = ''] = object.split('/')
      this.objects.add(object)
      for (const list of [RESOURCE[kind] ?? 'cluster', ...(ALSO[kind] ?? [])]) this.noteList(list, kind)
    }
    this.objectsTimer ??= setTimeout(() => this.askObjects(), TOGETHER_MS)
  }

  /** A line of a log changes no list, and no object but its job. */
  private noteLine(line: ToldLine): void {
    const lines = this.lines.get(line.job)
    if (lines === undefined) this.lines.set(line.job, [line])
    else lines.push(line)
    this.objectsTimer ??= setTimeout(() => this.askObjects(), TOGETHER_MS)
  }

  /** For when anything may have changed. Questions to all nodes are repeated separately. */
  noteAll(): void {
    void this.askAnew({ predicate: ({ queryKey: [resource, kind] }) => resource !== 'monitoring' || kind !== 'list' })
  }

  /** For when the server is back: repeats failed queries. */
  noteReturn(): void {
    void this.askAnew({ predicate: ({ state }) => state.status === 'error' })
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.objectsTimer)
    clearTimeout(this.locksTimer)
  }

  private askObjects(): void {
    this.objectsTimer = undefined
    for (const [job, lines] of this.lines) if (!this.addLines(job, lines)) this.objects.add(`job/${job}`)
    this.lines.clear()
    for (const object of this.objects) {
      const [kind = '', ...name] = object.split('/')
      const resource = RESOURCE[kind]
      if (resource !== undefined) void this.askAnew({ queryKey: [resource, 'one', name.join('/')] })
    }
    this.objects.clear()
  }

  /** Returns false if the job must be asked for: its answer is on its way, or lacks lines before these. */
  private addLines(id: number, lines: readonly ToldLine[]): boolean {
    const queryKey = ['jobs', 'one', String(id)]
    const [query] = this.client.getQueryCache().findAll({ queryKey, exact: true })
    if (query === undefined) return true
    const { data, fetchStatus, isInvalidated } = query.state
    const isNew = fetchStatus === 'idle' && !isInvalidated && data !== undefined
    const job = isNew ? withLines(data as Job, lines) : undefined
    if (job !== undefined) this.client.setQueryData(queryKey, job)
    return job !== undefined
  }

  private noteLocksLater(): void {
    clearTimeout(this.locksTimer)
    this.locksTimer = setTimeout(() => this.noteList('locks', 'later'), LOCKS_LATER_MS)
  }

  private noteList(resource: string, cause: string): void {
    const known = this.lists.get(resource)
    if (known !== undefined) known.causes.add(cause)
    else this.askListSoon(resource, cause)
  }

  private askListSoon(resource: string, cause: string): void {
    const { causes }: List = { causes: new Set([cause]) }
    this.lists.set(resource, { causes })
    const look = async () => {
      if (this.isClosed) return
      if (causes.size === 0) return void this.lists.delete(resource)
      const begun_ms = performance.now()
      // Another request would cancel the present one, so a long list that often changes would never load.
      if (this.client.isFetching({ queryKey: [resource, 'list'] }) === 0) {
        const since = new Set(causes)
        causes.clear()
        await this.askList(resource, since)
      }
      const pause_ms = resource === 'monitoring' ? MONITORING_EVERY_MS : LISTS_EVERY_MS
      setTimeout(() => void look(), Math.max(pause_ms, REST * (performance.now() - begun_ms)))
    }
    setTimeout(() => void look(), TOGETHER_MS)
  }

  private async askList(resource: string, causes: ReadonlySet<string>): Promise<void> {
    const ask = (filters: QueryFilters) => this.askAnew(filters)
    const isShown = ({ meta }: Query) => meta?.['ofInstances'] !== false
    const few = resource !== 'instances' && [...causes].every((cause) => OF_INSTANCES.has(cause))
    const isOf = (...kinds: string[]) => resource === 'instances' && kinds.some((kind) => causes.has(kind))
    await Promise.all([
      ask({ queryKey: [resource, 'list'], ...(few && { predicate: isShown }) }),
      ...(isOf('instance', 'disk') ? [ask({ predicate: ({ queryKey }) => hasInstances(queryKey) })] : []),
      ...(isOf('event node') ? [ask({ predicate: ({ queryKey }) => ofNodes(queryKey) })] : []),
      // An operating system's settings belong to the cluster, so no event names that system.
      ...(resource === 'os' ? [ask({ queryKey: ['os', 'one'] })] : []),
      ...(resource === 'cluster' ? [ask({ queryKey: ['cluster'] })] : []),
    ])
  }

  /** A request on its way may return the state before the change, so its query is repeated afterwards. */
  private async askAnew(filters: QueryFilters): Promise<void> {
    const onTheWay = new Set(this.client.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' }))
    for (const query of onTheWay) this.askAfter(query)
    const { predicate = () => true } = filters
    await this.client.invalidateQueries({ ...filters, predicate: (one) => !onTheWay.has(one) && predicate(one) })
  }

  private askAfter(query: Query): void {
    if (this.late.has(query)) return
    this.late.add(query)
    const again = () => {
      this.late.delete(query)
      if (!this.isClosed) void this.client.invalidateQueries({ queryKey: query.queryKey, exact: true })
    }
    void Promise.resolve(query.promise).then(again, again)
  }
}
