// The cache of the server's answers.
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { Problem } from './problem'

/** Only failures that may pass are retried: an unreachable server, and the statuses from 502. */
export const createQueryClient = (): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({
      // Removes data that the user is no longer allowed to see.
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
