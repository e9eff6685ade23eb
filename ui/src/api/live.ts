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
      ({ objects }) => changes.note(objects),
      () => void client.invalidateQueries(),
    )
    return () => {
      leave()
      changes.close()
    }
  }, [client, session])
}

class Changes {
  private readonly objects = new Set<string>()
  private readonly lists = new Set<string>()
  private objectsTimer: number | undefined
  private listsTimer: number | undefined

  constructor(private readonly client: QueryClient) {}

  note(objects: readonly string[]): void {
    for (const object of objects) {
      this.objects.add(object)
      this.lists.add(RESOURCE[object.split('/')[0] ?? ''] ?? 'cluster')
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
      void this.client.invalidateQueries({ queryKey: [resource, 'list'] })
      if (resource === 'cluster') void this.client.invalidateQueries({ queryKey: ['cluster'] })
    }
    this.lists.clear()
  }
}
