// Polls while there is no event stream.
import type { Query, QueryClient } from '@tanstack/react-query'
import type { Connection } from './event-stream'

const JOBS_EVERY_MS = 5000
/** A user who may not see events learns of changes only by polling. So every sixth time all data is refetched. */
const ALL_EVERY = 6

interface Page {
  readonly connection: () => Connection
  /** Hidden pages do not poll. */
  readonly isSeen: () => boolean
  /** Without a session, the server would refuse each request. */
  readonly isSignedIn: () => boolean
}

export function askWithoutEvents(client: Pick<QueryClient, 'invalidateQueries'>, page: Page): () => void {
  let times = 0
  const timer = setInterval(() => {
    const connection = page.connection()
    if (connection === 'live' || !page.isSeen() || !page.isSignedIn()) return
    const all = connection === 'denied' && ++times % ALL_EVERY === 0
    void client.invalidateQueries({ predicate: all ? isCheap : isAtWork })
  }, JOBS_EVERY_MS)
  return () => clearInterval(timer)
}

/** Whether asking again costs little: the others ask all nodes, and show when they were asked. */
const isCheap = ({ queryKey: [resource, kind] }: Query): boolean => resource !== 'monitoring' || kind !== 'list'

/** Whether the user waits for the result of this query: unfinished jobs, and runs over many instances. */
function isAtWork({ queryKey: [resource, kind, what], state: { data } }: Query): boolean {
  if (resource !== 'jobs') return false
  if (kind !== 'one') return what === 'bulk'
  return typeof data !== 'object' || data === null || !('ended' in data) || data.ended === null
}
