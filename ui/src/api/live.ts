// What pages show follows the events of the cluster.
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Changes } from './changes'
import { followEvents } from './events'

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
