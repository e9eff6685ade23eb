// How answers of the server are kept and asked for again.
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { Problem } from './problem'

/** Answers of the server are not asked for twice; only one that was not reached may be there the next time. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      // What somebody could see before is not shown any longer to who may not see it now.
      onError: (error, query) => {
        if (error instanceof Problem && error.status === 403) query.setState({ data: undefined })
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 30_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) =>
          failures < 2 && error instanceof Problem && (error.status === 0 || error.status >= 502),
      },
    },
  })
