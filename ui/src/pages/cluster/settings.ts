// The settings of the cluster: each parameter of the opcode that changes it, with its meaning and its present value.
import { schema } from 'openapi:PATCH /3/cluster'
import type { components } from '../../api/schema'
import { fieldsWithin, isFlat } from '../../forms/parameter-fields'
import { type Field, fieldOf, type Schema } from '../../forms/schema'
import { valueText } from '../../parts/differences'
import { texts } from '../../texts'

export type Cluster = components['schemas']['ClusterView']

export interface Setting {
  readonly name: string
  readonly text: string
  readonly value: unknown
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
    .map(([name, { description = '' }]) => ({ name, text: description, value: valueOf(cluster, name) }))
}

function valueOf(cluster: Cluster, name: string): unknown {
  const found: unknown = Reflect.get(cluster, NAMES[name] ?? name)
  // The cluster has sets of defaults; the opcode changes the one that there is.
  if (
    (name === 'beparams' || name === 'nicparams') &&
    typeof found === 'object' &&
    found !== null &&
    'default' in found
  )
    return found.default
  return found
}

export const shortText = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? texts.nodes.yes : texts.nodes.no
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : valueText(value)
}

/** Dictionaries whose values can be given one by one. */
const ONE_BY_ONE = new Set(['beparams', 'ndparams', 'nicparams', 'enabled_data_collectors', 'data_collector_interval'])

/** As simple inputs as its values have. */
export function fieldsFor({ name, text, value }: Setting): Field[] {
  const own: Schema | undefined = schema.properties[name]
  if (typeof value === 'boolean') return [{ kind: 'switch', name, label: name, text, initial: value }]
  if (ONE_BY_ONE.has(name) && isFlat(value)) return fieldsWithin(name, value, value)
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
