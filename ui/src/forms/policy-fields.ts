// Fields for an instance policy. A request has all ranges if one has changed, and other parameters only if they have changed.
import { schema } from 'openapi:#InstancePolicy'
import { texts } from '../texts'
import { belowOthers, type Dictionary, ofCluster, parameterFields, type Values } from './parameter-fields'
import { type Limit, typedBounds } from './ranges'
import type { Field, Schema } from './schema'

const words = texts.groups.limits
const AT = 'ipolicy'
const { minmax, std, ...SIMPLE } = schema.properties
const SCHEMA: Schema = { ...schema, properties: SIMPLE }

const LIMITS: readonly Limit[] = Object.entries(std?.properties ?? {}).map(([name, of]) => ({
  ...{ name, label: words.spec[name] ?? name, size: of['x-unit'] === 'MiB' },
}))

/** Fields for the cluster, whose policy is complete. */
export const policyFieldsOfCluster = (policy: Values): Field[] => [
  ranges(policy, policy, true),
  ...others(ofCluster([AT], SCHEMA, withoutSpecs(policy))),
  ...LIMITS.map((limit) => standardField(limit, typedBounds(LIMITS, dictOf(policy['std']))[limit.name] ?? '')),
]

/** Fields for a group. `all` is its effective policy. */
export const policyFieldsOfGroup = (all: Values, own: Values): Field[] => [
  ranges(own, all, false),
  ...others(belowOthers([AT], SCHEMA, withoutSpecs(all), withoutSpecs(own))),
]

const others = (dictionary: Dictionary): Field[] =>
  parameterFields({
    ...{ ...dictionary, section: texts.groups.ipolicy },
    words: Object.fromEntries(Object.entries(words.policy).map(([name, label]) => [name, { label }])),
  })

const dictOf = (value: unknown): Values => (typeof value === 'object' && value !== null ? (value as Values) : {})
const withoutSpecs = ({ minmax: _, std: __, ...others }: Values): Values => others
const rangesIn = (value: unknown): readonly Values[] => (Array.isArray(value) ? value.map(dictOf) : [])

function ranges(own: Values, all: Values, required: boolean): Field {
  const typed = (value: unknown) =>
    rangesIn(value).map(({ min, max }) => ({
      ...{ min: typedBounds(LIMITS, dictOf(min)), max: typedBounds(LIMITS, dictOf(max)) },
    }))
  const [first] = typed(all['minmax'])
  const none = typedBounds(LIMITS, {})
  return {
    ...{ kind: 'ranges', name: `${AT}/minmax`, at: [AT, 'minmax'], section: texts.groups.ipolicy },
    ...{ label: words.range, text: minmax?.description, placeholder: texts.forms.inherited, required },
    ...{ initial: typed(own['minmax']), limits: LIMITS, start: first ?? { min: none, max: none } },
  }
}

function standardField({ name, label, size }: Limit, typed: string): Field {
  const base = {
    ...{ name: `${AT}/std/${name}`, at: [AT, 'std', name], label, required: true, section: words.standardSize },
  }
  return size
    ? { ...base, kind: 'size', initial: typed }
    : { ...base, kind: 'number', initial: typed === '' ? '' : Number(typed), min: 0 }
}
