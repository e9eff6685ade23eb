// Data of the cluster that forms for instances need.
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import { type Cluster, hypervisorQuery, useCluster, valuesOf } from '../../api/cluster'
import type { components } from '../../api/schema'
import type { BodySchema, Schema } from '../../forms/schema'
import { withinOf } from '../../forms/within-scope'
import { texts } from '../../texts'

export type Os = components['schemas']['OsView']
type Values = Readonly<Record<string, unknown>>

export const osQuery = queryOptions({
  queryKey: ['os', 'list', 'whole'],
  queryFn: async (): Promise<readonly Os[]> => {
    const query = { fields: 'name,variants,parameters,hidden,valid,blacklisted,os_hvp,osparams', limit: 1000 }
    return (await got(api.GET('/3/os', { params: { query } }))).items
  },
})

/** `debian+bookworm` is a variant of `debian`. */
const baseOf = (os: string): string => os.split('+')[0] ?? ''

export const osNamed = (all: readonly Os[] | undefined, os: string): Os | undefined =>
  all?.find(({ name }) => name === baseOf(os))

/** The cluster's OS parameters for all instances with this OS. */
export const osParametersOf = (cluster: Cluster | undefined, os: string): Values => ({
  ...valuesOf(cluster?.osparams, baseOf(os)),
  ...valuesOf(cluster?.osparams, os),
})

/** The schema of one parameter of an OS. The document knows no OS, but it says which names a token with a scope may set. */
export const osParameter = ({ properties }: BodySchema, name: string): Schema => ({
  ...{ type: 'string', 'x-within-scope': withinOf(properties['osparams'], name) },
})

export interface HypervisorFacts {
  /** The schema of each parameter. */
  readonly schemas: Readonly<Record<string, Schema>>
  readonly defaults: Values
  readonly cluster: Values
  readonly os: Values
}

export function useHypervisor(hypervisor: string, os: string): HypervisorFacts | undefined {
  const { data: cluster } = useCluster()
  const { data: all } = useQuery(hypervisorQuery)
  const schemas = inOrder(all?.[hypervisor]?.properties)
  if (cluster === undefined || schemas === undefined) return undefined
  return {
    schemas,
    defaults: Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, schema.default])),
    cluster: valuesOf(cluster.hvparams, hypervisor),
    // A variant has its own parameters, and inherits none from its OS.
    os: valuesOf(valuesOf(cluster.os_hvp, os), hypervisor),
  }
}

type Schemas = Readonly<Record<string, Schema>>

/** Common parameters come first. */
function inOrder(schemas: Schemas | undefined): Schemas | undefined {
  if (schemas === undefined) return undefined
  const first = texts.instances.commonHypervisor.flatMap((name) => {
    const schema = schemas[name]
    return schema === undefined ? [] : [[name, schema] as const]
  })
  return { ...Object.fromEntries(first), ...schemas }
}
