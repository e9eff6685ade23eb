// While no events come, what is open is asked for anew now and then; while they come, nothing is.
import type { Query, QueryClient } from '@tanstack/react-query'
import type { Connection } from './event-stream'

const JOBS_EVERY_MS = 5000
/** Who may not see events has nothing else to learn of changes from. */
const ALL_EVERY = 6

interface Page {
  readonly connection: () => Connection
  /** Nobody looks at the others. */
  readonly isSeen: () => boolean
  /** While nobody is, each question would only be refused. */
  readonly isSignedIn: () => boolean
}

export function askWithoutEvents(client: Pick<QueryClient, 'invalidateQueries'>, page: Page): () => void {
  let times = 0
  const timer = setInterval(() => {
    const connection = page.connection()
    if (connection === 'live' || !page.isSeen() || !page.isSignedIn()) return
    const all = connection === 'denied' && ++times % ALL_EVERY === 0
    void client.invalidateQueries(all ? {} : { predicate: isAtWork })
  }, JOBS_EVERY_MS)
  return () => clearInterval(timer)
}

/** What somebody waits for who has begun it. */
function isAtWork({ queryKey: [resource, kind, what], state: { data } }: Query): boolean {
  if (resource !== 'jobs') return false
  if (kind !== 'one') return what === 'bulk'
  return typeof data !== 'object' || data === null || !('ended' in data) || data.ended === null
}
