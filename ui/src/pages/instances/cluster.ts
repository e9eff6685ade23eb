// What forms for instances need to know of the cluster.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import type { Schema } from '../../forms/schema'
import { texts } from '../../texts'

export type Cluster = components['schemas']['ClusterView']
export type Os = components['schemas']['OsView']
type Values = Readonly<Record<string, unknown>>

export const clusterQuery = queryOptions({ queryKey: ['cluster', 'one'], queryFn: () => got(api.GET('/3/cluster')) })

/** Types, values and defaults of a hypervisor's parameters. They are loaded when a form first asks for them. */
export const hypervisorQuery = queryOptions({
  queryKey: ['hypervisors'],
  queryFn: async () => (await import('openapi:#HypervisorParameters')).schema.properties,
  staleTime: Infinity,
})

export const osQuery = queryOptions({
  queryKey: ['os', 'list', 'whole'],
  queryFn: async (): Promise<readonly Os[]> => {
    const query = { fields: 'name,variants,parameters,hidden,valid,blacklisted,os_hvp,osparams', limit: 1000 }
    return (await got(api.GET('/3/os', { params: { query } }))).items
  },
})

/** `debian+bookworm` is a variant of `debian`. */
export const osNamed = (all: readonly Os[] | undefined, os: string): Os | undefined =>
  all?.find(({ name }) => name === os.split('+')[0])

export interface HypervisorFacts {
  /** What is known of each parameter. */
  readonly schemas: Readonly<Record<string, Schema>>
  readonly defaults: Values
  readonly cluster: Values
  readonly os: Values
}

export function useHypervisor(hypervisor: string, os: string): HypervisorFacts | undefined {
  const { data: cluster } = useQuery(clusterQuery)
  const { data: all } = useQuery(hypervisorQuery)
  const schemas = inOrder(all?.[hypervisor]?.properties)
  if (cluster === undefined || schemas === undefined) return undefined
  const forOs = { ...valuesOf(cluster.os_hvp, os.split('+')[0] ?? ''), ...valuesOf(cluster.os_hvp, os) }
  return {
    schemas,
    defaults: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schema.default])),
    cluster: valuesOf(cluster.hvparams, hypervisor),
    os: valuesOf(forOs, hypervisor),
  }
}

type Schemas = Readonly<Record<string, Schema>>

/** Those that people change most come first. */
function inOrder(schemas: Schemas | undefined): Schemas | undefined {
  if (schemas === undefined) return undefined
  const first = texts.instances.commonHypervisor.flatMap((name) => {
    const schema = schemas[name]
    return schema === undefined ? [] : [[name, schema] as const]
  })
  return { ...Object.fromEntries(first), ...schemas }
}

/** The values below a name in a record of records. */
export function valuesOf(records: unknown, name: string): Values {
  const values = typeof records === 'object' && records !== null ? (records as Values)[name] : undefined
  return typeof values === 'object' && values !== null ? (values as Values) : {}
}
