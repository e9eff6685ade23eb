// What pages show is asked for anew when an event says that it has changed: objects at once, lists at most once in a while.
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { followEvents } from './events'

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

/** Keys of queries are [resource, 'one', name] and [resource, 'list', ...]. Another session has a stream of its own. */
export function useLive(session: string): void {
  const client = useQueryClient()
  useEffect(() => {
    const changes = new Changes(client)
    // What was shown before the stream began may have changed since.
    void client.invalidateQueries()
    const leave = followEvents(
      ({ type, objects }) => changes.note(type, objects),
      () => void client.invalidateQueries(),
    )
    return () => {
      leave()
      changes.close()
    }
  }, [client, session])
}

/** What has lists of instances is not changed itself when one of them moves. */
const HOLDERS: ReadonlySet<unknown> = new Set(['nodes', 'groups', 'networks'])
const hasInstances = ([resource, one, , ...more]: readonly unknown[]): boolean =>
  HOLDERS.has(resource) && one === 'one' && more.length === 0

class Changes {
  private readonly objects = new Set<string>()
  private readonly lists = new Set<string>()
  private objectsTimer: number | undefined
  private listsTimer: number | undefined

  constructor(private readonly client: QueryClient) {}

  note(type: string, objects: readonly string[]): void {
    for (const list of ALSO[type] ?? []) this.lists.add(list)
    for (const object of objects) {
      const [kind = ''] = object.split('/')
      this.objects.add(object)
      this.lists.add(RESOURCE[kind] ?? 'cluster')
      for (const list of ALSO[kind] ?? []) this.lists.add(list)
    }
    this.objectsTimer ??= window.setTimeout(() => this.askObjects(), TOGETHER_MS)
    this.listsTimer ??= window.setTimeout(() => this.askLists(), LISTS_EVERY_MS)
  }

  close(): void {
    window.clearTimeout(this.objectsTimer)
    window.clearTimeout(this.listsTimer)
  }

  private askObjects(): void {
    this.objectsTimer = undefined
    for (const object of this.objects) {
      const [kind = '', ...name] = object.split('/')
      const resource = RESOURCE[kind]
      if (resource !== undefined) void this.client.invalidateQueries({ queryKey: [resource, 'one', name.join('/')] })
    }
    this.objects.clear()
  }

  private askLists(): void {
    this.listsTimer = undefined
    for (const resource of this.lists) {
      // To ask anew would stop it, and a long list that changes all the time would never be answered.
      if (this.client.isFetching({ queryKey: [resource, 'list'] }) > 0) continue
      this.lists.delete(resource)
      void this.client.invalidateQueries({ queryKey: [resource, 'list'] })
      if (resource === 'instances')
        void this.client.invalidateQueries({ predicate: ({ queryKey }) => hasInstances(queryKey) })
      // What the cluster says of an operating system is a setting of the cluster.
      if (resource === 'os') void this.client.invalidateQueries({ queryKey: ['os', 'one'] })
      if (resource === 'cluster') void this.client.invalidateQueries({ queryKey: ['cluster'] })
    }
    if (this.lists.size > 0) this.listsTimer = window.setTimeout(() => this.askLists(), LISTS_EVERY_MS)
  }
}
