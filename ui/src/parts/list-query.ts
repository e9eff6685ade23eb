// A list of /3, page by page.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { request } from '../api/client'

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

export function useList<View>({ resource, query }: ListRequest) {
  const asked = useInfiniteQuery({
    queryKey: [resource, 'list', query],
    queryFn: async ({ pageParam }) => {
      const given = Object.entries({ limit: ROWS_PER_PAGE, ...query, after: pageParam })
      const words = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
      return (await request('GET', `/3/${resource}?${new URLSearchParams(words).toString()}`)) as ListPage<View>
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
    // Keeps the previous rows while a new filter loads.
    placeholderData: (before) => before,
  })
  const rows = useMemo(() => asked.data?.pages.flatMap(({ items }) => items) ?? [], [asked.data])
  return {
    rows,
    error: asked.error,
    loading: asked.isFetching,
    retry: () => void asked.refetch(),
    more: asked.hasNextPage && !asked.isFetching ? () => void asked.fetchNextPage() : undefined,
    hasMore: asked.hasNextPage,
  }
}
