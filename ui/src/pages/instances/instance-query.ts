// The query for the page of an instance.
import { queryOptions } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import type { Instance } from './instance'

export const instanceQuery = (name: string) =>
  queryOptions({
    queryKey: ['instances', 'one', name],
    queryFn: async (): Promise<Instance> => ({
      ...(await got(api.GET('/3/instances/{name}', { params: { path: { name } } }))),
      name,
    }),
  })
