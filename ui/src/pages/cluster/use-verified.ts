// The last verification of the cluster, as far as its jobs are still known.
import { useQueries, useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { Problem } from '../../api/problem'
import { jobQuery } from '../../parts/job'
import { submittedOf } from '../../parts/submitted'
import { type Verified, verifiedOf } from '../../parts/verified'

const VERIFY = JSON.stringify(['=~', 'title', '^CLUSTER_VERIFY(\\(|$)'])

const isGone = (error: unknown): boolean => error instanceof Problem && error.status === 404

export interface LastVerified {
  /** Undefined until all its jobs are known; null when no verification is. */
  readonly last: Verified | null | undefined
  readonly error: Error | null
  readonly retry: () => void
}

export function useVerified(enabled: boolean): LastVerified {
  const list = useQuery({
    queryKey: ['jobs', 'list', 'verify'],
    queryFn: () => got(api.GET('/3/jobs', { params: { query: { filter: VERIFY, sort: '-id', limit: 1 } } })),
    enabled,
  })
  const id = list.data?.items[0]?.id
  const job = useQuery({ ...jobQuery(id ?? 0), enabled: enabled && id !== undefined })
  const whole = id === undefined ? undefined : job.data
  const numbers = whole === undefined ? [] : submittedOf(whole)
  const all = useQueries({ queries: numbers.map(jobQuery) })
  const gone = numbers.filter((_, at) => isGone(all[at]?.error))
  const parts = all.filter(({ error }) => !isGone(error))
  const known = parts.flatMap(({ data }) => data ?? [])
  const isKnown = list.data !== undefined && (id === undefined || whole !== undefined) && known.length === parts.length
  const requested = [list, ...(id === undefined ? [] : [job]), ...parts]
  return {
    last: !isKnown ? undefined : whole === undefined ? null : verifiedOf(whole, known, gone),
    error: requested.map(({ error }) => error).find((error) => error !== null) ?? null,
    retry: () => requested.forEach(({ error, refetch }) => error !== null && void refetch()),
  }
}
