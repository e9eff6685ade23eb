// The fields of every object of config.data, once: in the order in which they are written, with their types and defaults
// (spec: config-schema.json). Reading is strict, as in Ganeti: an unknown key is refused, naming it and the object.
import type { Cluster, ConfigData, ObjectKind, ObjectKinds } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { compareText } from '../model/nice-sort'
import { isUuid } from '../model/ids'
import { HYPERVISORS } from '../model/constants/hypervisors'
import { NIC_MODES } from '../model/constants/params'
import { ADMIN_STATES, ADMIN_STATE_SOURCES, ALLOC_POLICIES } from '../model/constants/words'
import { isObject } from '../lib/shapes/shape'
import { DISK_TEMPLATES } from '../model/templates'

/** The object in its canonical form: all defaults there, keys in order, sets sorted. Throws ConfigurationError. */
export function canonical<K extends ObjectKind>(kind: K, object: unknown): ObjectKinds[K] {
  // The fields of OBJECTS are those of ObjectKinds, so what passes them has the type.
  return OBJECTS[kind](object, NOUN[kind]) as ObjectKinds[K]
}

export function canonicalCluster(object: unknown): Cluster {
  return cluster(object, 'cluster') as Cluster
}

/** The top of the file; containers stay as they are. */
export function canonicalTop(object: unknown): ConfigData {
  return top(object, 'configuration') as ConfigData
}

/** The names of containers' objects in messages. */
export const NOUN: Readonly<Record<ObjectKind, string>> = {
  nodes: 'node',
  nodegroups: 'node group',
  instances: 'instance',
  networks: 'network',
  disks: 'disk',
  filters: 'filter rule',
}

type Read = (value: unknown, at: string) => unknown
type Fields = Readonly<Record<string, Field>>

interface Field {
  readonly read: Read
  /** Makes the value of a missing field. Without this, a missing field that is not optional is an error. */
  readonly missing?: () => unknown
  readonly optional?: true
  /** Left out of the file when empty. */
  readonly omitEmpty?: true
}

const required = (read: Read): Field => ({ read })
const optional = (read: Read): Field => ({ read, optional: true })
const defaulting = (read: Read, missing: () => unknown): Field => ({ read, missing })
const state = (): Field => ({ read: anyObject, optional: true, omitEmpty: true })

function bad(at: string, what: string, value: unknown): ConfigurationError {
  const text = JSON.stringify(value) ?? 'nothing'
  return new ConfigurationError(
    `Configuration: ${at}: expected ${what}, found ${text.length > 80 ? `${text.slice(0, 77)}...` : text}`,
  )
}

const text: Read = (value, at) => {
  if (typeof value !== 'string') throw bad(at, 'a text', value)
  return value
}
const int: Read = (value, at) => {
  if (!Number.isInteger(value)) throw bad(at, 'a whole number', value)
  return value
}
const float: Read = (value, at) => {
  if (typeof value !== 'number') throw bad(at, 'a number', value)
  return value
}
const bool: Read = (value, at) => {
  if (typeof value !== 'boolean') throw bad(at, 'true or false', value)
  return value
}
const anything: Read = (value) => value
const uuid: Read = (value, at) => {
  if (typeof value !== 'string' || !isUuid(value)) throw bad(at, 'a uuid', value)
  return value
}
const oneOf =
  (values: readonly unknown[]): Read =>
  (value, at) => {
    if (!values.includes(value)) throw bad(at, `one of ${values.join(', ')}`, value)
    return value
  }
const list =
  (read: Read): Read =>
  (value, at) => {
    if (!Array.isArray(value)) throw bad(at, 'a list', value)
    return value.map((item, index) => read(item, `${at}[${index}]`))
  }
const tags: Read = (value, at) => [...new Set(list(text)(value, at) as string[])].sort(compareText)

function entries(value: unknown, at: string): [string, unknown][] {
  if (!isObject(value)) throw bad(at, 'an object', value)
  return Object.entries(value)
}

/** A dictionary with sorted keys. */
const dictionary =
  (read: Read): Read =>
  (value, at) =>
    Object.fromEntries(
      entries(value, at)
        .sort(([a], [b]) => compareText(a, b))
        .map(([key, item]) => [key, read(item, `${at}.${key}`)]),
    )
/** The same, with the keys as they come (hypervisors have an order of their own). */
const ordered =
  (read: Read): Read =>
  (value, at) =>
    Object.fromEntries(entries(value, at).map(([key, item]) => [key, read(item, `${at}.${key}`)]))

const anyObject: Read = dictionary(anything)
const params: Read = dictionary((value, at) => {
  if (value !== null && !['string', 'number', 'boolean'].includes(typeof value)) throw bad(at, 'a plain value', value)
  return value
})
const osParams: Read = dictionary(text)

/** An object of known fields. `named` ones are called by their name and uuid in errors. */
const fields =
  (all: Fields, options: { partial?: boolean; named?: boolean } = {}): Read =>
  (value, at) => {
    if (!isObject(value)) throw bad(at, 'an object', value)
    const place = options.named ? `${at} ${label(value)}` : at
    // A reservation for an object that does not exist yet may lack nearly everything.
    const forthcoming = options.named === true && value['forthcoming'] === true
    for (const key of Object.keys(value))
      if (!Object.hasOwn(all, key) && !(forthcoming && key === 'forthcoming'))
        throw new ConfigurationError(`Configuration: unknown key "${key}" in ${place}`)
    const result: Record<string, unknown> = forthcoming ? { forthcoming: true } : {}
    for (const [key, field] of Object.entries(all)) {
      const given = value[key]
      if (given !== undefined && !(given === null && field.optional)) {
        const read = field.read(given, `${place}: ${key}`)
        if (!(field.omitEmpty && isObject(read) && Object.keys(read).length === 0)) result[key] = read
      } else if (field.missing) result[key] = field.missing()
      else if (!field.optional && !options.partial && !(forthcoming && key !== 'uuid' && key !== 'serial_no'))
        throw new ConfigurationError(`Configuration: key "${key}" is missing in ${place}`)
    }
    return result
  }

function label(object: Record<string, unknown>): string {
  const name = typeof object['name'] === 'string' && object['name'] !== '' ? `"${object['name']}" ` : ''
  return `${name}(${typeof object['uuid'] === 'string' ? object['uuid'] : 'no uuid'})`
}

const optionalFields = (all: Fields): Read => fields(all, { partial: true })
const none = () => []
const empty = () => ({})
const zero = () => 0

const BE: Fields = {
  minmem: required(int),
  maxmem: required(int),
  vcpus: required(int),
  auto_balance: required(bool),
  always_failover: required(bool),
  spindle_use: required(int),
}
const NIC_PARAMS: Fields = { mode: required(oneOf(NIC_MODES)), link: required(text), vlan: required(text) }
const ND: Fields = {
  oob_program: required(text),
  spindle_count: required(int),
  exclusive_storage: required(bool),
  ovs: required(bool),
  ovs_name: required(text),
  ovs_link: required(text),
  ssh_port: required(int),
  cpu_speed: required(float),
}
const ISPEC: Fields = {
  'memory-size': required(int),
  'disk-size': required(int),
  'disk-count': required(int),
  'cpu-count': required(int),
  'nic-count': required(int),
  'spindle-use': required(int),
}
const template = oneOf(DISK_TEMPLATES)
const hypervisor = oneOf(HYPERVISORS)

const ipolicy = (partial: boolean): Read =>
  fields(
    {
      minmax: required(list(fields({ min: required(fields(ISPEC)), max: required(fields(ISPEC)) }))),
      std: required(fields(ISPEC, { partial })),
      'spindle-ratio': required(float),
      'vcpu-ratio': required(float),
      'disk-templates': required(list(template)),
    },
    { partial },
  )

const times: Fields = { ctime: defaulting(float, zero), mtime: defaulting(float, zero) }
const stamps: Fields = { ...times, uuid: required(uuid), serial_no: required(int) }
const stampsAndTags: Fields = { ...stamps, tags: defaulting(tags, none) }
const diskParams = dictionary(params)

const cluster = fields({
  rsahostkeypub: required(text),
  dsahostkeypub: optional(text),
  highest_used_port: required(int),
  tcpudp_port_pool: required(list(int)),
  mac_prefix: required(text),
  volume_group_name: optional(text),
  reserved_lvs: required(list(text)),
  drbd_usermode_helper: optional(text),
  master_node: required(text),
  master_ip: required(text),
  master_netdev: required(text),
  master_netmask: required(int),
  use_external_mip_script: required(bool),
  cluster_name: required(text),
  file_storage_dir: required(text),
  shared_file_storage_dir: required(text),
  gluster_storage_dir: required(text),
  enabled_hypervisors: required(list(hypervisor)),
  hvparams: required(ordered(params)),
  os_hvp: required(dictionary(ordered(params))),
  beparams: required(dictionary(fields(BE))),
  osparams: required(dictionary(osParams)),
  osparams_private_cluster: required(dictionary(osParams)),
  nicparams: required(dictionary(fields(NIC_PARAMS))),
  ndparams: required(fields(ND)),
  diskparams: required(diskParams),
  candidate_pool_size: required(int),
  modify_etc_hosts: required(bool),
  modify_ssh_setup: required(bool),
  maintain_node_health: required(bool),
  uid_pool: required(list(list(int))),
  default_iallocator: required(text),
  default_iallocator_params: required(anyObject),
  hidden_os: required(list(text)),
  blacklisted_os: required(list(text)),
  primary_ip_family: required(oneOf([2, 10])),
  prealloc_wipe_disks: required(bool),
  ipolicy: required(ipolicy(false)),
  hv_state_static: defaulting(ordered(anything), empty),
  disk_state_static: defaulting(ordered(anything), empty),
  enabled_disk_templates: required(list(template)),
  candidate_certs: required(dictionary(text)),
  max_running_jobs: required(int),
  max_tracked_jobs: required(int),
  install_image: required(text),
  instance_communication_network: required(text),
  zeroing_image: required(text),
  compression_tools: required(list(text)),
  enabled_user_shutdown: required(bool),
  data_collectors: required(dictionary(fields({ active: required(bool), interval: required(int) }))),
  ssh_key_type: required(oneOf(['rsa', 'dsa', 'ecdsa'])),
  ssh_key_bits: required(int),
  ...stampsAndTags,
})

const nic = fields({
  mac: required(text),
  ip: optional(text),
  nicparams: required(optionalFields(NIC_PARAMS)),
  network: optional(text),
  name: optional(text),
  uuid: required(uuid),
})

const readDisk: Read = (value, at) => disk(value, at)
const disk = fields(
  {
    logical_id: required(list(anything)),
    dev_type: required(template),
    children: defaulting(list(readDisk), none),
    nodes: defaulting(list(text), none),
    iv_name: defaulting(text, () => ''),
    size: required(int),
    mode: defaulting(oneOf(['rw', 'ro']), () => 'rw'),
    name: optional(text),
    spindles: optional(int),
    params: optional(params),
    uuid: required(uuid),
    serial_no: required(int),
    ...times,
  },
  { named: true },
)

const OBJECTS: Readonly<Record<ObjectKind, Read>> = {
  disks: disk,
  nodes: fields(
    {
      name: required(text),
      primary_ip: required(text),
      secondary_ip: required(text),
      master_candidate: required(bool),
      offline: required(bool),
      drained: required(bool),
      group: required(text),
      master_capable: required(bool),
      vm_capable: required(bool),
      ndparams: required(optionalFields(ND)),
      powered: required(bool),
      hv_state_static: state(),
      disk_state_static: state(),
      ...stampsAndTags,
    },
    { named: true },
  ),
  nodegroups: fields(
    {
      name: required(text),
      // Nodes know their group; a stored list could only be wrong. Ganeti computes it anew when it loads.
      members: { read: none, missing: none },
      ndparams: required(optionalFields(ND)),
      alloc_policy: required(oneOf(ALLOC_POLICIES)),
      ipolicy: required(ipolicy(true)),
      diskparams: required(diskParams),
      networks: required(dictionary(fields(NIC_PARAMS))),
      hv_state_static: state(),
      disk_state_static: state(),
      ...stampsAndTags,
    },
    { named: true },
  ),
  instances: fields(
    {
      name: required(text),
      primary_node: required(text),
      os: required(text),
      hypervisor: required(hypervisor),
      hvparams: defaulting(params, empty),
      beparams: defaulting(optionalFields(BE), empty),
      osparams: defaulting(osParams, empty),
      osparams_private: defaulting(osParams, empty),
      admin_state: required(oneOf(ADMIN_STATES)),
      admin_state_source: required(oneOf(ADMIN_STATE_SOURCES)),
      nics: defaulting(list(nic), none),
      disks: defaulting(list(text), none),
      disks_active: required(bool),
      network_port: optional(int),
      ...stampsAndTags,
    },
    { named: true },
  ),
  networks: fields(
    {
      name: required(text),
      mac_prefix: optional(text),
      network: required(text),
      network6: optional(text),
      gateway: optional(text),
      gateway6: optional(text),
      reservations: optional(text),
      ext_reservations: optional(text),
      uuid: required(uuid),
      ...times,
      serial_no: required(int),
      tags: defaulting(tags, none),
    },
    { named: true },
  ),
  filters: fields(
    {
      watermark: required(int),
      priority: required(int),
      predicates: required(list(anything)),
      action: required(anything),
      reason_trail: required(list(anything)),
      uuid: required(uuid),
    },
    { named: true },
  ),
}

const top = fields({
  version: required(int),
  cluster: required(anything),
  nodes: required(anything),
  nodegroups: required(anything),
  instances: required(anything),
  networks: required(anything),
  disks: required(anything),
  filters: required(anything),
  ...times,
  serial_no: required(int),
})
