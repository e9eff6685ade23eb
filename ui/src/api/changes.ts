// What events say has changed is asked for anew: objects at once, lists at most once in a while, and the longer they take, the less often.
import type { Query, QueryClient, QueryFilters } from '@tanstack/react-query'

/** The first word of the keys of queries, by the kind of object in events. */
const RESOURCE: Readonly<Record<string, string>> = {
  instance: 'instances',
  node: 'nodes',
  group: 'groups',
  network: 'networks',
  job: 'jobs',
  disk: 'instances',
  filter: 'filters',
}

/** What happens to jobs is no event of the lists of these. */
const OF_JOBS: ReadonlySet<string> = new Set(['job', 'log'])

/** Lists that may tell something else when one of a kind has changed, or when there was an event of a type. */
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
/** Long lists that change all the time leave the page free for so many times as long as they took. */
const REST = 3

/** What has lists of instances is not changed itself when one of them moves. */
const HOLDERS: ReadonlySet<unknown> = new Set(['nodes', 'groups', 'networks'])
const hasInstances = ([resource, one, , ...more]: readonly unknown[]): boolean =>
  HOLDERS.has(resource) && one === 'one' && more.length === 0

/** Lists are asked for anew, each by itself: one for which all nodes are asked holds up no other. */
export class Changes {
  private readonly objects = new Set<string>()
  private objectsTimer: ReturnType<typeof setTimeout> | undefined
  /** Lists that are asked for, or were a moment ago, and whether they have changed since. */
  private readonly lists = new Map<string, { hasChanged: boolean }>()
  /** These are asked for once more when they have been answered. */
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

  /** Anything may have changed. */
  noteAll(): void {
    void this.askAnew({})
  }

  /** The server is back: what could not be asked for meanwhile is asked for again. */
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
      // To ask anew would stop it, and a long list that changes all the time would never be answered.
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
      // What the cluster says of an operating system is a setting of the cluster.
      ...(resource === 'os' ? [ask({ queryKey: ['os', 'one'] })] : []),
      ...(resource === 'cluster' ? [ask({ queryKey: ['cluster'] })] : []),
    ])
  }

  /** An answer that is on its way may tell what was before, so that is asked for once more after it. */
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
