// The state of the event stream, for all components of the page.
import { useSyncExternalStore } from 'react'
import type { Connection } from './event-stream'

let now: Connection = 'connecting'
const watchers = new Set<() => void>()

export const connectionStore = {
  get: () => now,
  subscribe(watcher: () => void) {
    watchers.add(watcher)
    return () => void watchers.delete(watcher)
  },
  become(next: Connection): void {
    now = next
    for (const watcher of watchers) watcher()
  },
}

export const useConnection = (): Connection => useSyncExternalStore(connectionStore.subscribe, connectionStore.get)
