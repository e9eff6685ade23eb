// Parameters of instances: the fields of a form for them, and where each value comes from.
import { schema as backend } from 'openapi:#BackendParameters'
import { parameterField } from '../../forms/parameter-fields'
import type { Field } from '../../forms/schema'
import { isSame } from '../../forms/values'
import { texts } from '../../texts'

type Values = Readonly<Record<string, unknown>>

/** Who says the value: the instance, the cluster for this OS, the cluster for all, or nobody, so that it is the built-in one. */
export type Origin = 'instance' | 'os' | 'cluster' | 'default'

export interface Levels {
  readonly instance: Values
  /** The cluster's, for instances with this OS. */
  readonly os?: Values
  readonly cluster?: Values
  /** Those that are built in. */
  readonly defaults?: Values
}

export interface Parameter {
  readonly name: string
  readonly value: unknown
  readonly origin: Origin
  /** What it would be if the instance did not say it. */
  readonly inherited: unknown
}

const has = (values: Values | undefined, name: string): values is Values =>
  values !== undefined && Object.hasOwn(values, name)

/** `effective` are the values as they are; a cluster that says the built-in value leaves it as it is. */
export function originsOf(effective: Values, levels: Levels): Parameter[] {
  return Object.keys(effective)
    .sort()
    .map((name) => {
      const { instance, os, cluster, defaults } = levels
      const below: readonly [Origin, unknown] = has(os, name)
        ? ['os', os[name]]
        : has(cluster, name) && !(has(defaults, name) && isSame(defaults[name], cluster[name]))
          ? ['cluster', cluster[name]]
          : ['default', has(cluster, name) ? cluster[name] : has(defaults, name) ? defaults[name] : effective[name]]
      const [origin, value] = has(instance, name) ? (['instance', instance[name]] as const) : below
      return { name, value: value ?? effective[name], origin, inherited: below[1] }
    })
}

/** Fields for the parameters of resources, in the order in which people think of them. */
export const backendFields = (own: Values, inherited: Values): Field[] =>
  Object.entries(texts.instances.backendWords).map(([name, wording]) =>
    parameterField(name, backend.properties[name] ?? {}, own, inherited[name], wording),
  )
