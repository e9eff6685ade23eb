// One instance, as its page asks for it.
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

/** The name that an instance has now, if it was only renamed. */
export async function nameOf(uuid: string): Promise<string | undefined> {
  const query = { fields: 'name', filter: JSON.stringify(['==', 'uuid', uuid]) }
  return (await got(api.GET('/3/instances', { params: { query } }))).items[0]?.name
}
