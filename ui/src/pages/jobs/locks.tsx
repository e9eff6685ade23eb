// The query for locks, and links to their holders.
import { queryOptions } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { texts } from '../../texts'
import type { Holder } from './waits'

export type Lock = components['schemas']['LockView']

export const LOCK_FIELDS = 'name,object,mode,owner,pending'
const SHOWN_MAX = 100

/** The locks that a job holds, or for which it waits; the first ones of many. */
export const locksOfJobQuery = (job: number, how: 'owner' | 'waiting') =>
  queryOptions({
    queryKey: ['locks', 'list', 'job', job, how],
    queryFn: () => {
      const filter = JSON.stringify(['=[]', how, String(job)])
      return got(api.GET('/3/locks', { params: { query: { fields: LOCK_FIELDS, filter, limit: SHOWN_MAX } } }))
    },
  })

export const lockQuery = (name: string) =>
  queryOptions({
    queryKey: ['locks', 'list', 'one', name],
    queryFn: () => {
      const query = { fields: LOCK_FIELDS, filter: JSON.stringify(['==', 'name', name]) }
      return got(api.GET('/3/locks', { params: { query } }))
    },
  })

/** The name of a lock, with the name of its object instead of its UUID. */
export function lockText({ name, object }: Pick<Lock, 'name' | 'object'>): string {
  const text = name ?? ''
  return object ? `${text.slice(0, text.indexOf('/'))}/${object}` : text
}

export function LockLink({ lock, holders }: { lock: Lock; holders: readonly Holder[] }) {
  return (
    <div>
      <Link to="/locks" search={{ q: lock.name ?? '' }}>
        {lockText(lock)}
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
