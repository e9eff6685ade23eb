// The settings of the cluster: each parameter of the opcode that changes it, with its meaning and its present value.
import { schema } from 'openapi:PATCH /3/cluster'
import { schema as view } from 'openapi:#ClusterView'
import { type Cluster, valuesOf } from '../../api/cluster'
import { type Dictionary, ofCluster, parameterFields, type Values } from '../../forms/parameter-fields'
import { policyFieldsOfCluster } from '../../forms/policy-fields'
import { type Field, fieldOf, type Schema } from '../../forms/schema'
import { isSame } from '../../forms/values'
import { valueText, yesOrNo } from '../../parts/differences'
import type { Seen } from '../../parts/request-dialog'
import { texts } from '../../texts'

export interface Setting {
  readonly name: string
  readonly text: string
  readonly value: unknown
  /** Where the request has it. */
  readonly at: readonly string[]
  /** What the document says of its value. */
  readonly schema: Schema
  readonly cluster: Cluster
}

/** Where the cluster has it by another name. */
const NAMES: Readonly<Record<string, string>> = { vg_name: 'volume_group_name', drbd_helper: 'drbd_usermode_helper' }

/** They change lists, or tell how to do it, or are secret: settings of their own. */
const NO_SETTINGS = new Set([
  ...['force', 'add_uids', 'remove_uids', 'osparams_private_cluster', 'hv_state', 'disk_state', 'modify_etc_hosts'],
  ...['hidden_os', 'blacklisted_os', 'os_hvp', 'osparams'],
])

/** Maintenance has a page of its own, which says more. */
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
  const [asked = {}, shown = {}] = [schema.properties[name], view.properties[known]]
  // The cluster has sets of defaults; the opcode changes the one that there is.
  const set = shown.properties?.['default']
  if (set !== undefined) return { value: valuesOf(value, 'default'), schema: set }
  return { value, schema: hasParts(shown) || !hasParts(asked) ? shown : asked }
}

const hasParts = ({ properties = {} }: Schema): boolean => Object.keys(properties).length > 0

const ofHypervisor = (setting: Setting, hypervisor: string): Setting => ({
  ...setting,
  ...{ name: `${setting.name}/${hypervisor}`, at: [...setting.at, hypervisor] },
  ...{ value: valuesOf(setting.value, hypervisor), schema: setting.schema.properties?.[hypervisor] ?? {} },
})

/** Where there are many parameters, only those that are not as built in. */
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

/** As simple inputs as its values have. */
export function fieldsFor(setting: Setting): Field[] {
  const { name, text, value } = setting
  const own: Schema | undefined = schema.properties[name]
  if (name === 'ipolicy' && isDict(value)) return policyFieldsOfCluster(value)
  if (typeof value === 'boolean') return [{ kind: 'switch', name, label: name, text, initial: value }]
  const dictionaries = dictionariesOf(setting)
  if (dictionaries.length > 0) return dictionaries.flatMap(parameterFields)
  // A text that may be empty can be emptied.
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

/** One, or one for each name; none for what the document does not describe. */
function dictionariesOf({ at, value, schema: described }: Setting): Dictionary[] {
  if (!isDict(value)) return []
  const parts = Object.entries(described.properties ?? {})
  if (parts.length > 0 && parts.every(([, part]) => hasParts(part)))
    return parts.map(([name, part]) => ({
      ...ofCluster([...at, name], part, valuesOf(value, name)),
      section: name,
    }))
  // Where all have values of one type, its present value tells which there are.
  const { additionalProperties: each } = described
  const isEven = typeof each === 'object' && each !== null && 'type' in each
  return parts.length > 0 || isEven
    ? [{ ...ofCluster(at, described, value), words: texts.instances.hypervisorWords }]
    : []
}

/** Shown when somebody else has changed the cluster meanwhile. */
export const seenOf = ({ name, value, cluster: { uuid, serial_no: serial } }: Setting): Seen => ({
  ...{ etag: `"cluster/${uuid}/${serial}"`, facts: { [name]: value } },
})
