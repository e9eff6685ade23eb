// A list of /3, page by page.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { request } from '../api/client'
import { useRefusal } from '../api/session'

interface ListPage<View> {
  readonly items: readonly View[]
  readonly next: string | null
}

export interface ListRequest {
  readonly resource:
    'instances' | 'nodes' | 'groups' | 'networks' | 'jobs' | 'os' | 'exports' | 'filters' | 'tags' | 'locks'
  readonly query: Readonly<Record<string, string | undefined>>
}

const ROWS_PER_PAGE = '500'

/** The permission that each list needs. */
const PERMISSION: Readonly<Record<ListRequest['resource'], string>> = {
  ...{ instances: 'instances.list', nodes: 'nodes.list', groups: 'groups.list', networks: 'networks.list' },
  ...{ jobs: 'jobs.list', os: 'os.list', exports: 'exports.list', filters: 'filter.list', tags: 'tags.get' },
  locks: 'locks.list',
}

export function useList<View>({ resource, query }: ListRequest) {
  const refusal = useRefusal()(PERMISSION[resource])
  const requested = useInfiniteQuery({
    queryKey: [resource, 'list', query],
    queryFn: async ({ pageParam }) => {
      const input = Object.entries({ limit: ROWS_PER_PAGE, ...query, after: pageParam })
      const words = input.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
      return (await request('GET', `/3/${resource}?${new URLSearchParams(words).toString()}`)) as ListPage<View>
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // Keeps the previous rows while a new filter loads.
    placeholderData: (before) => before,
    enabled: refusal === undefined,
  })
  const rows = useMemo(() => requested.data?.pages.flatMap(({ items }) => items) ?? [], [requested.data])
  const { isFetching } = requested
  return {
    rows,
    error: requested.error,
    /** Why the user may not see the list. */
    refusal,
    // A live refresh of what is shown is not told: with many events, there is always one.
    loading: requested.isLoading || requested.isPlaceholderData || requested.isFetchingNextPage,
    retry: () => void requested.refetch(),
    // A request for the next page would end a refresh.
    more: requested.hasNextPage ? () => void (isFetching || requested.fetchNextPage()) : undefined,
    hasMore: requested.hasNextPage,
  }
}
