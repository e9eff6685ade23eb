// Keeps the data of pages current with the events of the cluster.
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Changes } from './changes'
import { openChannel } from './channel'
import { send } from './client'
import { connectionStore } from './connection'
import { sessionStore } from './session-store'
import { isChange, lastChange } from './last-change'
import { SharedEvents, type Surroundings } from './shared-events'
import { askWithoutEvents } from './without-events'

const surroundings: Surroundings = {
  open: (cursor, signal) => {
    const headers = cursor === undefined ? undefined : { 'Last-Event-ID': cursor }
    return send(new Request('/3/events', { headers, signal }))
  },
  locks: navigator.locks,
  channel: openChannel,
}

/**
 * Keys of queries are [resource, 'one', name] and [resource, 'list', ...]. Another session may see other events, so the stream starts again.
 * With undefined, the page follows no events.
 */
export function useLive(session: string | undefined): void {
  const client = useQueryClient()
  useEffect(() => (session === undefined ? undefined : follow(client, session)), [client, session])
}

function follow(client: QueryClient, session: string): () => void {
  connectionStore.become('connecting')
  const changes = new Changes(client)
  let hasLived = false
  const events = new SharedEvents(`events ${session}`, surroundings, (news) => {
    if (news.connection === 'live' && connectionStore.get() === 'lost') changes.noteReturn()
    connectionStore.become(news.connection)
    if (news.missed) changes.noteAll()
    // What was asked for a moment before the first stream began is as good as new.
    if (news.missed && hasLived) changes.note({ type: 'gap', objects: [] })
    if ((news.missed && hasLived) || news.events.some(isChange)) lastChange.note(Date.now())
    hasLived ||= news.connection === 'live'
    for (const event of news.events) changes.note(event)
  })
  const stopAsking = askWithoutEvents(client, {
    connection: connectionStore.get,
    isSeen: () => !document.hidden,
    isSignedIn: () => sessionStore.get().state === 'open',
  })
  return () => {
    stopAsking()
    events.close()
    changes.close()
  }
}
