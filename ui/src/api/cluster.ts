// Queries for the cluster with its settings, and for descriptions of hypervisor parameters.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, got } from './client'
import { useRefusal } from './session'
import type { components } from './schema'

export type Cluster = components['schemas']['ClusterView']
type Values = Readonly<Record<string, unknown>>

export const clusterQuery = queryOptions({ queryKey: ['cluster', 'one'], queryFn: () => got(api.GET('/3/cluster')) })

/** The cluster, and why the user may not see it. In that case, the server is not asked. */
export function useCluster() {
  const refusal = useRefusal()('cluster.info')
  const { data, error, refetch } = useQuery({ ...clusterQuery, enabled: refusal === undefined })
  return { data, error, refetch, refusal }
}

/** Types, values and defaults of a hypervisor's parameters. They are loaded with the first form that needs them. */
export const hypervisorQuery = queryOptions({
  queryKey: ['hypervisors'],
  queryFn: async () => (await import('openapi:#HypervisorParameters')).schema.properties,
  staleTime: Infinity,
})

/** The values under a name in a record of records. */
export function valuesOf(records: unknown, name: string): Values {
  const values = typeof records === 'object' && records !== null ? (records as Values)[name] : undefined
  return typeof values === 'object' && values !== null ? (values as Values) : {}
}
