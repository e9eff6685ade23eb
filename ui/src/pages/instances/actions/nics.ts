// Actions on network cards of an instance.
import { schema as known } from 'openapi:#NicParameters'
import { schema as create } from 'openapi:POST /3/instances'
import { schema as change } from 'openapi:PATCH /3/instances/{name}'
import { type BodySchema, choicesOf, type Field, fieldOf, type Values } from '../../../forms/schema'
import { type Action, nothingChanged } from '../../../parts/action'
import { texts } from '../../../texts'
import type { Instance } from '../instance'
import { isRunning, modify, seenOf } from './request'

const own = texts.instances.actions
const words = own.nic

/** One network card of an instance. */
export interface NicOf {
  readonly instance: Instance
  readonly index: number
  readonly mac: string
  readonly ip: string | null
  readonly mode: string
  readonly link: string
  readonly network: string | null
  readonly name: string | null
}

export const NIC: BodySchema = { properties: create.properties['nics']?.items?.properties ?? {}, required: [] }

const MODES = choicesOf(known.properties['mode']?.enum ?? [])

/** Fields of a network card. `now` has its present values; it is empty for a new card. */
export const nicFields = (now: Partial<NicOf> = {}): Field[] => [
  fieldOf(NIC, 'network', { ...words.network, source: 'networks', initial: now.network ?? '', cleared: 'none' }),
  fieldOf(NIC, 'ip', { ...words.ip, initial: now.ip ?? '', cleared: 'none' }),
]

export const rareNicFields = (now: Partial<NicOf> = {}): Field[] => [
  fieldOf(NIC, 'mode', {
    ...words.mode,
    initial: now.mode ?? '',
    choices: MODES,
    cleared: 'default',
    ...(now.mode === undefined && { placeholder: texts.forms.clusterDefault }),
  }),
  fieldOf(NIC, 'link', { ...words.link, initial: now.link ?? '', cleared: 'default' }),
  fieldOf(NIC, 'vlan', words.vlan),
  fieldOf(NIC, 'mac', { ...words.mac, initial: now.mac ?? '', cleared: 'auto' }),
  fieldOf(NIC, 'name', { ...words.name, initial: now.name ?? '', cleared: 'none' }),
]

const manner = (instance: Instance): Field[] => [
  ...(isRunning(instance) ? [fieldOf(change, 'hotplug', own.fields.hotplug)] : []),
  fieldOf(change, 'conflicts_check', own.fields.conflicts_check),
]

function parted(body: Values): { device: Values; rest: Values } {
  const { hotplug, conflicts_check: check, ...device } = body
  const rest = { hotplug, conflicts_check: check }
  return { device, rest: Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)) }
}

const titleOf = ({ index, mac }: NicOf): string => `${index} (${mac})`

export const ADD_NIC: Action<Instance> = {
  ...{ id: 'add-nic', label: words.add, permission: 'instances.modify', group: own.groups.change, seen: seenOf },
  text: (instance) => (isRunning(instance) ? own.hot(instance.name) : words.addText(instance.name)),
  fields: nicFields(),
  others: (instance) => [...rareNicFields(), ...manner(instance)],
  request(instance, body) {
    const { device, rest } = parted(body)
    return modify(instance, { ...rest, nics: [['add', -1, device]] })
  },
}

export const CHANGE_NIC: Action<NicOf> = {
  ...{
    id: 'change-nic',
    label: words.change,
    permission: 'instances.modify',
    seen: ({ instance }) => seenOf(instance),
  },
  text: (nic) => words.changeText(titleOf(nic), nic.instance.name),
  fields: nicFields,
  others: (nic) => [...rareNicFields(nic), ...manner(nic.instance)],
  complaint: (_nic, body) => nothingChanged(parted(body).device),
  request({ instance, index }, body) {
    const { device, rest } = parted(body)
    return modify(instance, { ...rest, nics: [['modify', index, device]] })
  },
}

export const REMOVE_NIC: Action<NicOf> = {
  ...{ id: 'remove-nic', label: words.remove, permission: 'instances.modify', danger: true },
  seen: ({ instance }) => seenOf(instance),
  text: (nic) => words.removeText(titleOf(nic), nic.instance.name),
  fields: ({ instance }) => manner(instance).slice(0, -1),
  request: ({ instance, index }, body) => modify(instance, { ...body, nics: [['remove', index, {}]] }),
}
