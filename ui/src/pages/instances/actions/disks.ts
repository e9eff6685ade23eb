// Actions on disks of an instance.
import { schema as diskParameters } from 'openapi:#DiskParameters'
import { schema as create } from 'openapi:POST /3/instances'
import { schema as activate } from 'openapi:POST /3/instances/{name}/disks/activate'
import { schema as deactivate } from 'openapi:POST /3/instances/{name}/disks/deactivate'
import { schema as recreate } from 'openapi:POST /3/instances/{name}/disks/recreate'
import { schema as grow } from 'openapi:POST /3/instances/{name}/disks/{index}/grow'
import { schema as change } from 'openapi:PATCH /3/instances/{name}'
import type { components } from '../../../api/schema'
import { type BodySchema, type Field, fieldOf, otherFields, type Values } from '../../../forms/schema'
import { belowOthers, parameterFields } from '../../../forms/parameter-fields'
import { withinOf } from '../../../forms/within-scope'
import { sizeText, sizeWord } from '../../../format/size'
import { type Action, nothingChanged } from '../../../parts/action'
import { each, flagValue } from '../../../parts/gnt'
import type { Request } from '../../../parts/request'
import { texts } from '../../../texts'
import type { Instance } from '../instance'
import { TEMPLATES } from '../templates'
import { onOfflineNode } from './run'
import { isRunning, modify, post, remove, seenOf } from './request'

const own = texts.instances.actions
const words = own.disk
const group = own.groups.disks

/** One disk of an instance. */
export interface DiskOf {
  readonly instance: Instance
  readonly index: number
  readonly name: string | null
  readonly size: number
}

export const disksOf = (instance: Instance): DiskOf[] =>
  (instance['disk.sizes'] ?? []).map((size, index) => ({
    ...{ instance, index, name: instance['disk.names']?.[index] ?? null, size: Number(size) },
  }))

const templateOf = ({ disk_template: template }: Instance) => TEMPLATES[template ?? '']
const titleOf = ({ index, name }: Pick<DiskOf, 'index' | 'name'>): string =>
  name === null ? `${index}` : `${index} (${name})`

/** The schema of a disk. */
export const DISK: BodySchema = { properties: create.properties['disks']?.items?.properties ?? {}, required: [] }

/** Parameters of a disk of this template for itself, over those of its group. An empty field shows that the group's value holds. */
function ownDiskFields(template: string, own: Values = {}): Field[] {
  const names = TEMPLATES[template]?.own ?? []
  const known = diskParameters.properties[template]?.properties ?? {}
  const properties = Object.fromEntries(
    names.map((name) => [
      name,
      { ...known[name], 'x-within-scope': withinOf(create.properties['disks']?.items, name) },
    ]),
  )
  return parameterFields(belowOthers([], { properties }, {}, own))
}

/** Only says how a disk is made. One that exists cannot follow it. */
const onlyForMaking = (name: string): boolean => name.includes('stripe')

/** Those that are set for this disk. */
const ownOf = ({ instance, index }: DiskOf): Values =>
  Object.fromEntries(
    (instance['disk.parameters']?.[index] ?? []).flatMap(({ name, value, source }) =>
      source === 'disk' ? [[name, value]] : [],
    ),
  )

/** Parameters that few users need: for LVM, external storage and adopted disks. */
const RARE = ['vg', 'metavg', 'spindles', 'access', 'provider', 'adopt'] as const

export const rareDiskFields = (template: string): Field[] => [
  ...RARE.filter((name) => (RARE_OF[template] ?? ['spindles']).includes(name)).map((name) =>
    fieldOf(DISK, name, words[name]),
  ),
  ...ownDiskFields(template),
]

const RARE_OF: Readonly<Record<string, readonly string[]>> = {
  plain: ['vg', 'adopt', 'spindles'],
  drbd: ['vg', 'metavg', 'spindles'],
  ext: ['provider', 'access'],
  rbd: ['access', 'adopt'],
  gluster: ['access'],
  blockdev: ['adopt'],
}

export const DISK_SIZE: Field = { ...fieldOf(DISK, 'size', { ...words.size, size: true }), required: true }

const LATER = [
  fieldOf(change, 'wait_for_sync', own.fields.wait_for_sync),
  fieldOf(change, 'ignore_ipolicy', own.fields.ignore_ipolicy),
]
const hotplug = (instance: Instance): Field[] =>
  isRunning(instance) ? [fieldOf(change, 'hotplug', own.fields.hotplug)] : []

/** Separates parameters of the disk from those of the request. */
function parted({ disk_template: template }: Instance, body: Values): { device: Values; rest: Values } {
  const entries = Object.entries(body)
  const own = TEMPLATES[template ?? '']?.own ?? []
  const isDevice = ([name]: readonly [string, unknown]) => Object.hasOwn(DISK.properties, name) || own.includes(name)
  return {
    device: Object.fromEntries(entries.filter(isDevice)),
    rest: Object.fromEntries(entries.filter((entry) => !isDevice(entry))),
  }
}

export const ADD_DISK: Action<Instance> = {
  ...{ id: 'add-disk', label: words.add, permission: 'instances.modify', group, seen: seenOf },
  text: (instance) => (isRunning(instance) ? own.hot(instance.name) : words.addText(instance.name)),
  fields: (instance) => [
    DISK_SIZE,
    fieldOf(DISK, 'name', words.name),
    fieldOf(DISK, 'mode', words.mode),
    ...hotplug(instance),
  ],
  others: ({ disk_template: template }) => [...rareDiskFields(template ?? ''), ...LATER],
  unfit: (instance) => (templateOf(instance)?.empty ? own.unfit.noDisks : undefined),
  request(instance, body) {
    const { device, rest } = parted(instance, body)
    return modify(instance, { ...rest, disks: [['add', -1, device]] })
  },
}

export const CHANGE_DISK: Action<DiskOf> = {
  ...{
    id: 'change-disk',
    label: words.change,
    permission: 'instances.modify',
    seen: ({ instance }) => seenOf(instance),
  },
  text: (disk) => words.changeText(titleOf(disk), disk.instance.name),
  fields: ({ name }) => [
    fieldOf(DISK, 'name', { ...words.name, initial: name ?? '', cleared: 'none' }),
    fieldOf(DISK, 'mode', { ...words.mode, placeholder: texts.forms.unchanged }),
  ],
  others: (disk) =>
    ownDiskFields(disk.instance.disk_template ?? '', ownOf(disk)).filter(({ name }) => !onlyForMaking(name)),
  request(disk, body) {
    const { device, rest } = parted(disk.instance, body)
    return modify(disk.instance, { ...rest, disks: [['modify', disk.index, device]] })
  },
  complaint: (_disk, body) => nothingChanged(body),
}

export const GROW_DISK: Action<DiskOf> = {
  ...{ id: 'grow-disk', label: words.grow, permission: 'instances.grow_disk' },
  seen: ({ instance }) => seenOf(instance),
  text: (disk) => words.growText(titleOf(disk), disk.instance.name, sizeText(disk.size)),
  fields: ({ size }) => [
    { ...fieldOf(grow, 'amount', { ...words.newSize, size: true, placeholder: sizeWord(size) }), required: true },
  ],
  others: otherFields(grow, ['amount', 'absolute'], own.fields),
  unfit: ({ instance }) =>
    templateOf(instance)?.growable ? undefined : own.unfit.notGrown(instance.disk_template ?? ''),
  complaint: ({ size }, { amount }) =>
    amount !== undefined && Number(amount) <= size ? words.tooSmall(sizeText(size)) : undefined,
  request: ({ instance, index }, body) => {
    const { amount, ...others } = body
    const sent = { ...others, ...(amount === undefined ? {} : { amount }), absolute: true }
    return post(instance, `/disks/${index}/grow`, sent, {
      command: 'instance grow-disk',
      args: [String(index), amount === undefined ? '' : sizeWord(Number(amount))],
      flags: { amount: null },
    })
  },
}

export const REMOVE_DISK: Action<DiskOf> = {
  ...{ id: 'remove-disk', label: words.remove, permission: 'instances.modify', danger: true },
  seen: ({ instance }) => seenOf(instance),
  text: (disk) => words.removeText(titleOf(disk), disk.instance.name),
  fields: ({ instance }) => hotplug(instance),
  typed: ({ instance }) => instance.name,
  request: ({ instance, index }, body) => modify(instance, { ...body, disks: [['remove', index, {}]] }),
}

export const ACTIVATE_DISKS: Action<Instance> = {
  ...{ id: 'activate-disks', label: words.activate, permission: 'instances.activate_disks', group },
  text: ({ name }) => words.activateText(name),
  fields: otherFields(activate, [], own.fields),
  unfit: (instance) => (templateOf(instance)?.empty ? own.unfit.noDisks : undefined),
  request: (instance, body) => post(instance, '/disks/activate', body, { command: 'instance activate-disks' }),
}

export const DEACTIVATE_DISKS: Action<Instance> = {
  ...{ id: 'deactivate-disks', label: words.deactivate, permission: 'instances.deactivate_disks', group },
  text: ({ name }) => words.deactivateText(name),
  fields: otherFields(deactivate, [], own.fields),
  unfit: (instance) => (isRunning(instance) ? own.unfit.running : undefined),
  request: (instance, body) => post(instance, '/disks/deactivate', body, { command: 'instance deactivate-disks' }),
}

/** The parameters that a disk may get when it is made again, under its own heading. Those that stay empty do not change. */
function anewFields(disk: DiskOf): Field[] {
  const { instance, index, name, size } = disk
  const fields = [
    fieldOf(DISK, 'size', { ...words.size, size: true, placeholder: sizeWord(size) }),
    fieldOf(DISK, 'mode', { ...words.mode, placeholder: texts.forms.unchanged }),
    fieldOf(DISK, 'spindles', words.spindles),
    ...ownDiskFields(instance.disk_template ?? '', ownOf(disk)),
  ]
  const section = words.one(titleOf({ index, name }))
  return fields.map((field) => {
    const at = [ANEW, String(index), ...(field.at ?? [field.name])]
    return { ...field, name: at.join('/'), at, section }
  })
}

/** The part of the form with the parameters of disks, by their indices. */
const ANEW = 'anew'

/** Disks that are made again, with their new parameters. */
function madeAnew(instance: Instance, { disks, [ANEW]: input = {} }: Values): [index: number, params: Values][] {
  const params = new Map(Object.entries(input as Readonly<Record<string, Values>>))
  const named = Array.isArray(disks) ? disks.map(Number) : []
  const all = (instance['disk.sizes'] ?? []).map((_, index) => index)
  // No list means all disks.
  const desired = named.length > 0 || params.size === 0 ? named : all
  return desired.map((index) => [index, params.get(String(index)) ?? {}])
}

export const RECREATE_DISKS: Action<Instance> = {
  ...{ id: 'recreate-disks', label: words.recreate, permission: 'instances.recreate_disks', danger: true, group },
  text: ({ name }) => words.recreateText(name),
  fields: [
    { kind: 'words', name: 'disks', initial: [], label: words.which.label, text: words.which.text },
    fieldOf(recreate, 'nodes', { ...words.nodes, source: 'nodes' }),
    fieldOf(recreate, 'iallocator', own.fields.iallocator),
  ],
  others: (instance) => disksOf(instance).flatMap(anewFields),
  typed: ({ name }) => name,
  unfit: (instance) => (isRunning(instance) ? own.unfit.running : undefined),
  complaint: (_instance, { disks, nodes, iallocator, [ANEW]: input = {} }) => {
    if (Array.isArray(disks) && disks.some((index) => !/^\d+$/.test(String(index)))) return words.noIndex
    const named = Array.isArray(disks) && disks.map(String)
    const other = named && Object.keys(input as Values).find((index) => !named.includes(index))
    if (typeof other === 'string') return words.notAnew(other)
    return nodes !== undefined && iallocator !== undefined ? words.nodesOrAllocator : undefined
  },
  request: (instance, body) => {
    const { disks: _, [ANEW]: __, ...others } = body
    const desired = madeAnew(instance, body)
    const sent = { ...others, ...(desired.length === 0 ? {} : { disks: desired }) }
    const nodes = Array.isArray(body['nodes']) ? { node: body['nodes'].join(':') } : {}
    const disk = desired.map(([index, params]) =>
      Object.keys(params).length === 0 ? index : `${index}:${flagValue(params)}`,
    )
    return post(instance, '/disks/recreate', sent, {
      command: 'instance recreate-disks',
      more: { ...nodes, disk: each(disk) },
      flags: { nodes: null, disks: null },
    })
  },
}

export const CONVERT: Action<Instance> = {
  ...{ id: 'convert', label: words.convert, permission: 'instances.modify', group, seen: seenOf },
  text: ({ name, disk_template: template }) => words.convertText(name, template ?? ''),
  fields: ({ disk_template: now }) => [
    fieldOf(change, 'disk_template', {
      ...words.template,
      required: true,
      choices: Object.keys(TEMPLATES)
        .filter((name) => name !== now && !TEMPLATES[name]?.adopted && !TEMPLATES[name]?.empty)
        .map((name) => ({ value: name, label: `${name}: ${texts.instances.templates[name] ?? ''}` })),
    }),
    fieldOf(change, 'remote_node', { ...words.remoteNode, source: 'nodes' }),
  ],
  others: ['iallocator', 'file_driver', 'file_storage_dir', 'ext_params', 'wait_for_sync', 'ignore_ipolicy'].map(
    (name) => fieldOf(change, name, own.fields[name]),
  ),
  unfit: (instance) => {
    if (isRunning(instance)) return own.unfit.running
    return templateOf(instance)?.empty ? own.unfit.noDisks : undefined
  },
  request: modify,
}

export function snapshotRequest(instance: Instance, { disks, ...snapshot }: Values): Request {
  const all = (instance['disk.sizes'] ?? []).map((_, index) => index)
  const desired = Array.isArray(disks) && disks.length > 0 ? disks.map(Number) : all
  const disk = desired.map((index) => `${index}:${flagValue(snapshot)}`)
  return post(
    instance,
    '/snapshots',
    { disks: desired.map((index) => [index, snapshot]) },
    { command: 'instance snapshot', more: { disk: each(disk) }, flags: { disks: null } },
  )
}

export const SNAPSHOT: Action<Instance> = {
  ...{ id: 'snapshot', label: words.snapshot, permission: 'instances.snapshot', group },
  text: ({ name }) => words.snapshotText(name),
  fields: (instance) => [
    {
      kind: 'text',
      name: 'snapshot_name',
      initial: '',
      label: words.snapshotName.label,
      text: words.snapshotName.text,
      required: true,
    },
    ...(templateOf(instance)?.snapshots === 'beside'
      ? [{ kind: 'size', name: 'snapshot_size', initial: '', ...words.snapshotSize } as const]
      : []),
    { kind: 'words', name: 'disks', initial: [], label: words.which.label, text: words.which.text },
  ],
  unfit: (instance) =>
    templateOf(instance)?.snapshots === undefined
      ? own.unfit.noSnapshots(instance.disk_template ?? '')
      : instance.snapshotProblem,
  complaint: (_instance, { disks }) =>
    Array.isArray(disks) && disks.some((index) => !/^\d+$/.test(String(index))) ? words.noIndex : undefined,
  request: snapshotRequest,
}

export interface SnapshotOf {
  readonly instance: Instance
  readonly disk: number
  readonly name: string
  readonly status: SnapshotStatus
}

export type SnapshotStatus = components['schemas']['SnapshotView']['status']

/** Storage whose disks nodes can roll back. */
const ROLLED_BACK: ReadonlySet<unknown> = new Set(['file', 'sharedfile', 'plain', 'drbd'])

export const ROLL_BACK_SNAPSHOT: Action<SnapshotOf> = {
  ...{ id: 'roll-back-snapshot', label: words.rollBack, permission: 'instances.rollback_snapshot', danger: true },
  text: ({ name, disk, instance }) => words.rollBackText(name, disk, instance.name),
  fields: [],
  typed: ({ instance }) => instance.name,
  unfit({ instance, status }) {
    const { disk_template: template, admin_state: state } = instance
    if (!ROLLED_BACK.has(template)) return words.noRollBack(template ?? '')
    if (status === 'invalid' || status === 'missing') return words.lostSnapshot[status]
    return onOfflineNode(instance) ?? (state === 'up' || isRunning(instance) ? own.unfit.running : undefined)
  },
  request: ({ instance, disk, name }) =>
    post(
      instance,
      `/disks/${disk}/snapshots/${encodeURIComponent(name)}/rollback`,
      {},
      {
        command: 'instance rollback-snapshot',
        more: { disk: `${disk}:${flagValue({ snapshot_name: name })}` },
      },
    ),
}

export const REMOVE_SNAPSHOT: Action<SnapshotOf> = {
  ...{ id: 'remove-snapshot', label: words.removeSnapshot, permission: 'instances.remove_snapshot', danger: true },
  text: ({ name, disk, instance }) => words.removeSnapshotText(name, disk, instance.name),
  fields: [],
  request: ({ instance, disk, name }) =>
    remove(
      instance,
      `/disks/${disk}/snapshots/${encodeURIComponent(name)}`,
      {},
      {
        command: 'instance remove-snapshot',
        more: { disk: `${disk}:${flagValue({ snapshot_name: name })}` },
      },
    ),
}
