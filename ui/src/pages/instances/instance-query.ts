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

/** The present name of an instance that was renamed; undefined if it was removed. */
export async function nameOf(uuid: string): Promise<string | undefined> {
  const query = { fields: 'name', filter: JSON.stringify(['==', 'uuid', uuid]) }
  return (await got(api.GET('/3/instances', { params: { query } }))).items[0]?.name
}
