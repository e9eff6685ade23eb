// The requests that the actions of the console make: each action with the objects that it may be about, and what people may type into its form.
import { clusterInfo } from '../../../src/query/cluster-info'
import { clusterShape } from '../../../src/query/object-shapes'
import type { Field } from '../../../ui/src/forms/schema'
import { bodyOf } from '../../../ui/src/forms/values'
import {
  type Body,
  type ConsoleAction,
  consoleModule,
  type ConsoleRequest,
  fieldsFor,
  formOf,
  type FormField,
} from '../../support/console-actions'
import { goldenConfig } from '../../support/golden-query'

export const instance = {
  ...{ name: 'inst1.gnt.example', uuid: 'u', serial_no: 1, status: 'running', admin_state: 'up', os: 'noop' },
  ...{ disk_template: 'drbd', hypervisor: 'kvm', 'disk.sizes': [1024, 64] },
}
const node = {
  name: 'node2.gnt.example',
  pinst_cnt: 1,
  sinst_cnt: 1,
  sip: '198.51.100.2',
  ndparams: { oob_program: '/bin/oob' },
}
const tagged = { kind: 'node', path: '/3/nodes/node2.gnt.example', name: 'node2.gnt.example', tags: [] }

/** By file, the objects that its actions are about; those that differ by their object have several. */
export const SUBJECTS: Readonly<Record<string, (id: string) => readonly unknown[]>> = {
  'pages/instances/actions/run.ts': () => [instance],
  'pages/instances/actions/move.ts': () => [instance, { ...instance, disk_template: 'rbd' }],
  'pages/instances/actions/change.ts': (id) => [id === 'remove-tag' ? { instance, tag: 'web' } : instance],
  'pages/instances/actions/disks.ts': (id) =>
    /-snapshot$/.test(id)
      ? [{ instance, disk: 0, name: 'before' }]
      : /-disk$/.test(id) && id !== 'add-disk'
        ? [{ instance, index: 1, name: 'logs', size: 1024 }]
        : [instance, { ...instance, disk_template: 'ext' }],
  'pages/instances/actions/nics.ts': (id) => [
    id === 'add-nic'
      ? instance
      : {
          instance,
          index: 0,
          mac: 'aa:00:00:11:22:33',
          ip: null,
          mode: 'bridged',
          link: 'br0',
          network: null,
          name: null,
        },
  ],
  'pages/nodes/actions.ts': (id) => [id === 'add' ? null : node],
  'pages/nodes/storage-card.tsx': () => [
    { node: node.name, type: 'lvm-vg', name: 'xenvg', allocatable: true },
    { node: node.name, type: 'lvm-pv', name: '/dev/sda1', allocatable: false },
  ],
  'pages/groups/actions.ts': (id) => [id === 'add' ? null : { name: 'rack2', pinst_cnt: 1, node_cnt: 0 }],
  'pages/networks/actions.ts': (id) =>
    id === 'add' ? [null] : id === 'disconnect' ? [{ network: 'net1', group: 'rack2' }] : [{ name: 'net1' }],
  'pages/access/actions.tsx': (id) => [id === 'make' ? null : { id: 'token-1', name: 'backup' }],
  'pages/jobs/actions.ts': (id) => [id.startsWith('drain') ? null : { id: 12, priority: 0, ops: [] }],
  'pages/maintenance/actions.ts': (id) => [
    id === 'settings'
      ? { evacuation: false, balance: true, round_delay: 300, balance_threshold: 0.1, diagnose_command: '' }
      : { id: 'event-1', node: 'u', 'repair-status': 'completed' },
  ],
  'pages/rules/actions.ts': (id) => [
    id === 'add'
      ? null
      : {
          uuid: '00000000-0000-4000-8000-000000000001',
          predicates: [['jobid', ['>', 'id', 3]]],
          action: ['RATE_LIMIT', 2],
          priority: 4,
          reason_trail: [['gnt:user', "it's late", 1]],
        },
  ],
  'pages/os/actions.ts': () => [
    {
      os: { name: 'noop', osparams: {}, os_hvp: {}, parameters: [['size', 'Size']] },
      cluster: {
        uuid: 'u',
        serial_no: 1,
        enabled_hypervisors: ['kvm'],
        hvparams: { kvm: { acpi: true, kernel_path: '' } },
      },
      hypervisors: {},
    },
  ],
  'pages/cluster/actions.ts': (id) => (id === 'change' ? settings() : [null]),
  'parts/tags.tsx': () => [
    { ...tagged, tag: 'web' },
    { kind: 'cluster', path: '/3/cluster', name: 'cluster', tags: [], tag: 'web' },
  ],
  'pages/exports/exports-page.tsx': () => [{ export: 'inst1.gnt.example', node: 'node2.gnt.example' }],
}

/** Each setting of the recorded cluster is an object of its own. */
function settings(): readonly unknown[] {
  const { settingsOf } = consoleModule<{ settingsOf(cluster: unknown): readonly unknown[] }>(
    'pages/cluster/settings.ts',
  )
  const config = goldenConfig()
  const { uuid, serial_no } = config.cluster
  return settingsOf({ ...clusterShape(clusterInfo(config)), uuid, serial_no })
}

/** People type these where the kind of a field does not say what it takes. */
const TYPED: Readonly<Record<string, unknown>> = {
  ...{
    new_name: 'other.gnt.example',
    node_name: 'node9.gnt.example',
    group_name: 'rack9',
    network_name: 'net9',
    name: 'c1.gnt.example',
  },
  ...{ instance_name: 'inst9.gnt.example', os_name: 'debian', os_type: 'debian+minimal', ip: '198.51.100.7' },
  ...{
    network: '198.51.100.0/24',
    gateway: '198.51.100.1',
    network6: '2001:db8::/64',
    gateway6: '2001:db8::1',
    mac_prefix: 'aa:bb:cc',
  },
  ...{
    add_reserved_ips: ['198.51.100.8', '198.51.100.9'],
    remove_reserved_ips: ['198.51.100.8'],
    secondary_ip: '198.51.100.3',
  },
  ...{ diagnose_data_collector_filename: 'check-node', primary_ip: '198.51.100.4', mac: 'aa:00:00:00:00:01' },
  ...{
    hvparams: { kernel_args: 'ro, "quiet"', boot_order: 'network' },
    beparams: { maxmem: 1024, always_failover: true },
  },
  ...{
    permissions: ['instances.*', '*.query'],
    disks: ['0', '1'],
    network_vlan: '7',
    vlan: '7',
    file_storage_dir: '/srv/x, y',
    ndparams: { spindle_count: 2 },
    predicates: '[["jobid", [">", "id", 7]]]',
    uid_pool: '[[1000, 1100]]',
    default_iallocators: '{"relocate": ["hail", "mine"]}',
    default_iallocator_params: '{"size": "a"}',
  },
}

const BOUNDS = (size: number): Body => ({
  ...{ 'memory-size': `${size}g`, 'cpu-count': `${size}`, 'disk-count': `${size}`, 'disk-size': `${size}g` },
  ...{ 'nic-count': `${size}`, 'spindle-use': `${size}` },
})

/** All that can be chosen, or one thing that can be typed. */
function typedEach(field: FormField): unknown[] {
  const { kind, initial, choices = [] } = field
  if (kind !== 'choice') return [typedInto(field)]
  const values = choices.map((choice) => (typeof choice === 'string' ? choice : choice.value))
  return values.filter((value) => value !== initial)
}

function typedInto(field: FormField): unknown {
  const { name, kind, initial, source = '', choices = [], min = 1, names } = field
  const named = { nodes: 'node3.gnt.example', groups: 'rack2', networks: 'net2', os: 'noop', instances: instance.name }[
    source
  ]
  if (named === undefined && Object.hasOwn(TYPED, name)) return TYPED[name]
  switch (kind) {
    case 'switch':
      return initial !== true
    case 'number':
      return min === initial ? min + 1 : min
    case 'size':
      return '4g'
    case 'choice':
      return typedEach(field)[0]
    case 'choices':
      return choices.slice(0, 2).reverse()
    case 'ranges':
      return [{ min: BOUNDS(1), max: BOUNDS(8) }]
    case 'words':
      return named === undefined ? ['one', 'two'] : [named]
    case 'pairs':
      return { [names?.[0] ?? 'first']: 'a, "b"', [names?.[1] ?? 'second']: 'c=d' }
    case 'json':
      return undefined
    default:
      return named ?? "it's one, two"
  }
}

export interface Case {
  readonly what: string
  readonly subject: unknown
  readonly values: Body
  readonly fields: readonly FormField[]
  readonly request: ConsoleRequest
}

/** Each action as it is, and with each of its fields filled in, beside another one where the form wants that. */
export function casesOf(file: string, action: ConsoleAction): Case[] {
  const form = formOf(action)
  if (form === undefined) return []
  return (SUBJECTS[file]?.(action.id) ?? []).flatMap((subject, at) => {
    const fields = [...fieldsFor(form.fields, subject), ...fieldsFor(form.others, subject)]
    const needed = Object.fromEntries(
      fields.flatMap((field) => (field.required ? [[field.name, typedInto(field)]] : [])),
    )
    const typed = fields.flatMap((field) => typedEach(field).map((value): Body => ({ [field.name]: value })))
    const sent = (values: Body): Case | undefined => {
      const body = bodyOf(fields as unknown as readonly Field[], { ...needed, ...values })
      if (form.complaint?.(subject, body) !== undefined) return undefined
      const words = [action.id, ...(at > 0 ? [`object ${at + 1}`] : []), 'with', ...Object.keys(values)]
      const what = words.join(' ')
      return { what, subject, fields, values: { ...needed, ...values }, request: form.request(subject, body) }
    }
    return [{}, ...typed].flatMap((one) => {
      const alone = sent(one)
      if (alone !== undefined) return [alone]
      const beside = typed.flatMap((other) => sent({ ...other, ...one }) ?? [])
      return beside.filter(({ values }) => Object.keys(one).every((name) => values[name] !== undefined)).slice(0, 1)
    })
  })
}
