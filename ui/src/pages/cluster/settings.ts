// The settings of the cluster: the parameters of OP_CLUSTER_SET_PARAMS, with descriptions and present values.
import { schema } from 'openapi:PATCH /3/cluster'
import { schema as view } from 'openapi:#ClusterView'
import { type Cluster, valuesOf } from '../../api/cluster'
import { type Dictionary, ofCluster, parameterFields, type Values } from '../../forms/parameter-fields'
import { policyFieldsOfCluster } from '../../forms/policy-fields'
import { type Field, fieldOf, type Schema } from '../../forms/schema'
import { isSame } from '../../forms/values'
import { valueText, yesOrNo } from '../../format/differences'
import type { Seen } from '../../parts/request-dialog'
import { texts } from '../../texts'

export interface Setting {
  readonly name: string
  readonly text: string
  readonly value: unknown
  /** The path in the request. */
  readonly at: readonly string[]
  /** The schema of the value. */
  readonly schema: Schema
  readonly cluster: Cluster
}

/** Parameters that have another name in the cluster's data. */
const NAMES: Readonly<Record<string, string>> = { vg_name: 'volume_group_name', drbd_helper: 'drbd_usermode_helper' }

/** Parameters that are no settings: they change lists, say how to make a change, or are secret. */
const NO_SETTINGS = new Set([
  ...['force', 'add_uids', 'remove_uids', 'osparams_private_cluster', 'hv_state', 'disk_state', 'modify_etc_hosts'],
  ...['hidden_os', 'blacklisted_os', 'os_hvp', 'osparams'],
])

/** Settings of maintenance have their own page. */
const isShown = (name: string): boolean => !NO_SETTINGS.has(name) && !name.startsWith('maint_')

export function settingsOf(cluster: Cluster): Setting[] {
  return Object.entries(schema.properties)
    .filter(([name]) => isShown(name))
    .flatMap(([name, { description: text = '' }]) => {
      const setting = { name, text, at: [name], ...found(cluster, name), cluster }
      return name === 'hvparams' ? cluster.enabled_hypervisors.map((one) => ofHypervisor(setting, one)) : [setting]
    })
}

function found(cluster: Cluster, name: string): Pick<Setting, 'value' | 'schema'> {
  const known = NAMES[name] ?? name
  const value: unknown = Reflect.get(cluster, known)
  const [requested = {}, displayed = {}] = [schema.properties[name], view.properties[known]]
  // The cluster has named sets of defaults, but only the set `default` is used.
  const set = displayed.properties?.['default']
  if (set !== undefined) return { value: valuesOf(value, 'default'), schema: set }
  return { value, schema: hasParts(displayed) || !hasParts(requested) ? displayed : requested }
}

const hasParts = ({ properties = {} }: Schema): boolean => Object.keys(properties).length > 0

const ofHypervisor = (setting: Setting, hypervisor: string): Setting => ({
  ...setting,
  ...{ name: `${setting.name}/${hypervisor}`, at: [...setting.at, hypervisor] },
  ...{ value: valuesOf(setting.value, hypervisor), schema: setting.schema.properties?.[hypervisor] ?? {} },
})

/** A short text for a value. For a dictionary, it has only values that differ from the defaults. */
export function shortText({ value, schema: described }: Pick<Setting, 'value' | 'schema'>): string {
  if (typeof value === 'boolean') return yesOrNo(value)
  if (!isDict(value)) return valueText(value)
  const others = changed(value, described)
  if (Object.keys(others).length > 0) return JSON.stringify(others)
  return Object.keys(value).length > 0 ? texts.cluster.builtIn : ''
}

const isDict = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

function changed(values: Values, { properties = {} }: Schema): Values {
  const entries = Object.entries(values).flatMap(([name, value]): (readonly [string, unknown])[] => {
    const known = properties[name] ?? {}
    if (!isDict(value) || !hasParts(known)) return isSame(value, known.default) ? [] : [[name, value]]
    const within = changed(value, known)
    return Object.keys(within).length === 0 ? [] : [[name, within]]
  })
  return Object.fromEntries(entries)
}

/** The simplest inputs for the type of the value. */
export function fieldsFor(setting: Setting): Field[] {
  const { name, text, value } = setting
  const own: Schema | undefined = schema.properties[name]
  if (name === 'ipolicy' && isDict(value)) return policyFieldsOfCluster(value)
  if (typeof value === 'boolean') return [{ kind: 'switch', name, label: name, text, initial: value }]
  const dictionaries = dictionariesOf(setting)
  if (dictionaries.length > 0) return dictionaries.flatMap(parameterFields)
  // An emptied field sends an empty text, if the parameter allows it.
  const cleared = own?.type === 'string' && (own.minLength ?? 0) === 0 ? '' : undefined
  const isSimple = own?.type === 'string' || own?.type === 'integer'
  const isWords = own?.type === 'array' && own.items?.type === 'string'
  if (isSimple || isWords) return [fieldOf(schema, name, { label: name, initial: value, cleared })]
  return [
    {
      ...{ kind: 'json', name, label: name, text: `${text} ${texts.cluster.json}` },
      initial: JSON.stringify(value ?? null),
    },
  ]
}

/** The dictionaries of a setting: one, or one for each name. A setting without a schema has none. */
function dictionariesOf({ at, value, schema: described }: Setting): Dictionary[] {
  if (!isDict(value)) return []
  const parts = Object.entries(described.properties ?? {})
  if (parts.length > 0 && parts.every(([, part]) => hasParts(part)))
    return parts.map(([name, part]) => ({
      ...ofCluster([...at, name], part, valuesOf(value, name)),
      section: name,
    }))
  // If all names share one schema, the present value tells which names exist.
  const { additionalProperties: each } = described
  const isEven = typeof each === 'object' && each !== null && 'type' in each
  return parts.length > 0 || isEven
    ? [{ ...ofCluster(at, described, value), words: texts.instances.hypervisorWords }]
    : []
}

/** Shown if somebody else has changed the cluster meanwhile. */
export const seenOf = ({ name, value, cluster: { uuid, serial_no: serial } }: Setting): Seen => ({
  ...{ etag: `"cluster/${uuid}/${serial}"`, facts: { [name]: value } },
})
