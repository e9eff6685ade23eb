// Parameters of instances: their form fields, and the origin of each value.
import { schema as backend } from 'openapi:#BackendParameters'
import { parameterField } from '../../forms/parameter-fields'
import type { Field } from '../../forms/schema'
import { isSame } from '../../forms/values'
import { texts } from '../../texts'

type Values = Readonly<Record<string, unknown>>

/** The origin of a value: the instance, the cluster for this OS, the cluster for all instances, or the built-in default. */
export type Origin = 'instance' | 'os' | 'cluster' | 'default'

export interface Levels {
  readonly instance: Values
  /** Values of the cluster for instances with this OS. */
  readonly os?: Values
  readonly cluster?: Values
  /** Built-in values. */
  readonly defaults?: Values
}

export interface Parameter {
  readonly name: string
  readonly value: unknown
  readonly origin: Origin
  /** The value without the instance's own value. */
  readonly inherited: unknown
}

const has = (values: Values | undefined, name: string): values is Values =>
  values !== undefined && Object.hasOwn(values, name)

/** `effective`: the values that hold. A value of the cluster that equals the built-in one counts as built in. */
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

/** The parameters whose names or origins contain a text, in any case of its letters. */
export function foundParameters(parameters: readonly Parameter[], sought: string): Parameter[] {
  const desired = sought.trim().toLowerCase()
  return parameters.filter(({ name, origin }) =>
    `${name} ${texts.instances.page.origin[origin]}`.toLowerCase().includes(desired),
  )
}

/** Fields for resources, the most common ones first. */
export const backendFields = (own: Values, inherited: Values): Field[] =>
  Object.entries(texts.instances.backendWords).map(([name, wording]) =>
    parameterField(name, backend.properties[name] ?? {}, own, inherited[name], wording),
  )
