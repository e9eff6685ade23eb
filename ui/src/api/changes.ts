// Refetches what has changed according to events. Objects are refetched soon. Lists are refetched at intervals, which are longer for slow lists.
import type { Query, QueryClient, QueryFilters } from '@tanstack/react-query'

/** The first word of query keys, by the kind of object in events. */
const RESOURCE: Readonly<Record<string, string>> = {
  instance: 'instances',
  node: 'nodes',
  group: 'groups',
  network: 'networks',
  job: 'jobs',
  disk: 'instances',
  filter: 'filters',
}

/** Events of these types do not refresh lists of past events, which do not show them. */
const OF_JOBS: ReadonlySet<string> = new Set(['job', 'log'])

/** Further lists to refetch, by the kind of a changed object or by the type of an event. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  job: ['locks'],
  instance: ['tags'],
  node: ['tags', 'maintenance'],
  group: ['tags'],
  network: ['tags'],
  cluster: ['tags', 'os', 'maintenance'],
  maintenance: ['maintenance'],
  watcher: ['watcher'],
}

const TOGETHER_MS = 250
const LISTS_EVERY_MS = 1000
/** After a slow list was loaded, the page waits this many times its loading time. */
const REST = 3

/** These objects list instances. They have no event of their own when an instance moves. */
const HOLDERS: ReadonlySet<unknown> = new Set(['nodes', 'groups', 'networks'])
const hasInstances = ([resource, one, , ...more]: readonly unknown[]): boolean =>
  HOLDERS.has(resource) && one === 'one' && more.length === 0

/** Each list is refetched separately, so that a list that asks all nodes delays no other list. */
export class Changes {
  private readonly objects = new Set<string>()
  private objectsTimer: ReturnType<typeof setTimeout> | undefined
  /** Lists that are loading or were loaded a moment ago, and whether they have changed since. */
  private readonly lists = new Map<string, { hasChanged: boolean }>()
  /** Queries to repeat after their present request. */
  private readonly late = new Set<Query>()
  private isClosed = false

  constructor(private readonly client: Pick<QueryClient, 'invalidateQueries' | 'isFetching' | 'getQueryCache'>) {}

  note(type: string, objects: readonly string[]): void {
    const lists = new Set(ALSO[type])
    if (!OF_JOBS.has(type)) lists.add('events')
    for (const object of objects) {
      const [kind = ''] = object.split('/')
      this.objects.add(object)
      for (const list of [RESOURCE[kind] ?? 'cluster', ...(ALSO[kind] ?? [])]) lists.add(list)
    }
    for (const list of lists) this.noteList(list)
    this.objectsTimer ??= setTimeout(() => this.askObjects(), TOGETHER_MS)
  }

  /** For when anything may have changed. */
  noteAll(): void {
    void this.askAnew({})
  }

  /** For when the server is back: repeats failed queries. */
  noteReturn(): void {
    void this.askAnew({ predicate: ({ state }) => state.status === 'error' })
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.objectsTimer)
  }

  private askObjects(): void {
    this.objectsTimer = undefined
    for (const object of this.objects) {
      const [kind = '', ...name] = object.split('/')
      const resource = RESOURCE[kind]
      if (resource !== undefined) void this.askAnew({ queryKey: [resource, 'one', name.join('/')] })
    }
    this.objects.clear()
  }

  private noteList(resource: string): void {
    const known = this.lists.get(resource)
    if (known !== undefined) known.hasChanged = true
    else this.askListSoon(resource)
  }

  private askListSoon(resource: string): void {
    const list = { hasChanged: true }
    this.lists.set(resource, list)
    const look = async () => {
      if (this.isClosed) return
      if (!list.hasChanged) return void this.lists.delete(resource)
      const begun_ms = performance.now()
      // Another request would cancel the present one, so a long list that often changes would never load.
      if (this.client.isFetching({ queryKey: [resource, 'list'] }) === 0) {
        list.hasChanged = false
        await this.askList(resource)
      }
      setTimeout(() => void look(), Math.max(LISTS_EVERY_MS, REST * (performance.now() - begun_ms)))
    }
    setTimeout(() => void look(), TOGETHER_MS)
  }

  private async askList(resource: string): Promise<void> {
    const ask = (filters: QueryFilters) => this.askAnew(filters)
    await Promise.all([
      ask({ queryKey: [resource, 'list'] }),
      ...(resource === 'instances' ? [ask({ predicate: ({ queryKey }) => hasInstances(queryKey) })] : []),
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
