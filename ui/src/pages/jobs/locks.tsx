// The query for locks, and links to their holders.
import { queryOptions } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { texts } from '../../texts'
import type { Holder } from './waits'

export type Lock = components['schemas']['LockView']

const LOCKS_MAX = 1000

export const locksQuery = queryOptions({
  queryKey: ['locks', 'list'],
  queryFn: () => got(api.GET('/3/locks', { params: { query: { limit: LOCKS_MAX } } })),
})

export function LockLink({ name, holders }: { name: string; holders: readonly Holder[] }) {
  return (
    <div>
      <Link to="/locks" search={{ q: name }}>
        {name}
      </Link>
      : <Holders holders={holders} />
    </div>
  )
}

/** Shows jobs as links, and daemons by name. */
export function Holders({ holders }: { holders: readonly Holder[] }) {
  if (holders.length === 0) return <>{texts.jobs.locks.nobody}</>
  return holders.map((holder) => (
    <span key={String(holder)} style={{ marginRight: 8 }}>
      {typeof holder === 'number' ? (
        <Link to="/jobs/$id" params={{ id: String(holder) }}>
          {texts.jobs.one(holder)}
        </Link>
      ) : (
        holder
      )}
    </span>
  ))
}
