// The fields of every object of config.data, in file order, with their types and defaults (spec: config-schema.json).
// Reading is strict, as in Ganeti: it refuses an unknown key, and names it and the object.
import type { Cluster, Disk, Nic, ObjectKind, ObjectKinds, Params } from '../model/config'
import type { StaticState } from '../model/common'
import { ConfigurationError } from '../model/errors'
import { isFilterAction } from '../model/filter-rule'
import { compareText } from '../model/nice-sort'
import { diskUuid, filterUuid, groupUuid, instanceUuid, isUuid, networkUuid, nicUuid, nodeUuid } from '../model/ids'
import { HYPERVISORS } from '../model/constants/hypervisors'
import { NIC_MODES } from '../model/constants/params'
import { ADMIN_STATES, ADMIN_STATE_SOURCES, ALLOC_POLICIES } from '../model/constants/words'
import { DISK_TEMPLATES } from '../model/templates'
import { dictOf, listOf, setOf, tuple } from '../lib/shapes/containers'
import { bool, exactly, float, int, json, leaf, oneOf, string, stringOrNumber } from '../lib/shapes/leaves'
import { type Fields, type ObjectOf, defaulted, objectOf, optional, partialOf } from '../lib/shapes/objects'
import { Mismatch, type Shape, isObject, lazy, mapped, refine } from '../lib/shapes/shape'
import { plainly } from '../lib/shapes/words'

/** The object in canonical form: with all defaults, keys in order, sets sorted. Throws ConfigurationError. */
export const canonical = <K extends ObjectKind>(kind: K, object: unknown): ObjectKinds[K] =>
  read(OBJECTS[kind], object, NOUN[kind])

export const canonicalCluster = (object: unknown): Cluster => read(cluster, object, 'cluster')

/** The top level of the file; containers stay unchanged. */
export const canonicalTop = (object: unknown) => read(top, object, 'configuration')

/** What messages call the objects of a container. */
export const NOUN: Readonly<Record<ObjectKind, string>> = {
  nodes: 'node',
  nodegroups: 'node group',
  instances: 'instance',
  networks: 'network',
  disks: 'disk',
  filters: 'filter rule',
}

function read<T>(shape: Shape<T>, value: unknown, noun: string): T {
  try {
    return shape.parse(value)
  } catch (error) {
    if (!(error instanceof Mismatch)) throw error
    throw new ConfigurationError(`Configuration: ${plainly(error, { place: noun, found: true })}`)
  }
}

const none = () => []
const empty = () => ({})
const zero = () => 0

const uuid = refine(string, { format: 'uuid' }, isUuid, (value) => `${JSON.stringify(value)} is no uuid`)
const tags = mapped(setOf(string), (values) => [...values].sort(compareText))

/** A dictionary with sorted keys. Others keep their own order, such as that of hypervisors. */
const dictionary = <T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> =>
  mapped(dictOf(item, string), withSortedKeys)

function withSortedKeys<T>(values: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  const keys = Object.keys(values)
  if (keys.every((key, at) => at === 0 || compareText(keys[at - 1] ?? '', key) <= 0)) return values
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => compareText(a, b)))
}

const anyObject = dictionary(json)
/** Omitted from the file if empty. */
const state = optional(
  mapped(anyObject, (value): StaticState | undefined => (Object.keys(value).length === 0 ? undefined : value)),
)
const params: Shape<Params> = dictionary(
  leaf(
    'plain value',
    { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }], nullable: true },
    (value) => value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean',
  ),
)
const osParams = dictionary(string)

const exact = <const F extends Fields>(fields: F) => objectOf(fields, { others: 'refused' })
const partly = <const F extends Fields>(fields: F) => partialOf(fields, { others: 'refused' })

/**
 * An object that errors name by its name and uuid. A reservation for an instance that does not exist yet may lack
 * almost all fields.
 */
function named<const F extends Fields>(fields: F): Shape<ObjectOf<F>> {
  const whole = exact(fields)
  const loose = Object.entries(fields).map(([name, shape]) => [name, canLack(name, shape) ? optional(shape) : shape])
  const reserved = exact({ forthcoming: exactly(true), ...Object.fromEntries(loose) })
  return {
    schema: whole.schema,
    parse(value) {
      const isReserved = isObject(value) && value['forthcoming'] === true
      try {
        // Code that handles a reservation checks which fields it has.
        return isReserved ? (reserved.parse(value) as ObjectOf<F>) : whole.parse(value)
      } catch (error) {
        throw error instanceof Mismatch ? error.inside({ kind: 'label', name: label(value) }) : error
      }
    },
  }
}

const canLack = (name: string, shape: object): boolean =>
  name !== 'uuid' && name !== 'serial_no' && !('missing' in shape)

function label(object: unknown): string {
  const { name, uuid } = isObject(object) ? object : {}
  const first = typeof name === 'string' && name !== '' ? `"${name}" ` : ''
  return `${first}(${typeof uuid === 'string' ? uuid : 'no uuid'})`
}

const BE = {
  minmem: int,
  maxmem: int,
  vcpus: int,
  auto_balance: bool,
  always_failover: bool,
  spindle_use: int,
}
const NIC_PARAMS = { mode: oneOf('NICMode', NIC_MODES), link: string, vlan: string }
const ND = {
  oob_program: string,
  spindle_count: int,
  exclusive_storage: bool,
  ovs: bool,
  ovs_name: string,
  ovs_link: string,
  ssh_port: int,
  cpu_speed: float,
}
const ISPEC = {
  'memory-size': int,
  'disk-size': int,
  'disk-count': int,
  'cpu-count': int,
  'nic-count': int,
  'spindle-use': int,
}
const template = oneOf('DiskTemplate', DISK_TEMPLATES)
const hypervisor = oneOf('Hypervisor', HYPERVISORS)

const ipolicy = <S>(std: Shape<S>) => ({
  minmax: listOf(exact({ min: exact(ISPEC), max: exact(ISPEC) })),
  std,
  'spindle-ratio': float,
  'vcpu-ratio': float,
  'disk-templates': listOf(template),
})

const times = { ctime: defaulted(float, zero), mtime: defaulted(float, zero) }
const stamped = <U>(uuid: Shape<U>) => ({ ...times, uuid, serial_no: int, tags: defaulted(tags, none) })
const diskParams = dictionary(params)

const cluster: Shape<Cluster> = exact({
  rsahostkeypub: string,
  dsahostkeypub: optional(string),
  highest_used_port: int,
  tcpudp_port_pool: listOf(int),
  mac_prefix: string,
  volume_group_name: optional(string),
  reserved_lvs: listOf(string),
  drbd_usermode_helper: optional(string),
  master_node: mapped(string, nodeUuid),
  master_ip: string,
  master_netdev: string,
  master_netmask: int,
  use_external_mip_script: bool,
  cluster_name: string,
  file_storage_dir: string,
  shared_file_storage_dir: string,
  gluster_storage_dir: string,
  enabled_hypervisors: listOf(hypervisor),
  hvparams: dictOf(params, string),
  os_hvp: dictionary(dictOf(params, string)),
  beparams: exact({ default: exact(BE) }),
  osparams: dictionary(osParams),
  osparams_private_cluster: dictionary(osParams),
  nicparams: exact({ default: exact(NIC_PARAMS) }),
  ndparams: exact(ND),
  diskparams: diskParams,
  candidate_pool_size: int,
  modify_etc_hosts: bool,
  modify_ssh_setup: bool,
  maintain_node_health: bool,
  uid_pool: listOf(tuple(int, int)),
  default_iallocator: string,
  default_iallocator_params: anyObject,
  hidden_os: listOf(string),
  blacklisted_os: listOf(string),
  primary_ip_family: oneOf('IpFamily', [2, 10]),
  prealloc_wipe_disks: bool,
  ipolicy: exact(ipolicy(exact(ISPEC))),
  hv_state_static: defaulted(dictOf(json, string), empty),
  disk_state_static: defaulted(dictOf(json, string), empty),
  enabled_disk_templates: listOf(template),
  candidate_certs: dictionary(string),
  max_running_jobs: int,
  max_tracked_jobs: int,
  install_image: string,
  instance_communication_network: string,
  zeroing_image: string,
  compression_tools: listOf(string),
  enabled_user_shutdown: bool,
  data_collectors: dictionary(exact({ active: bool, interval: int })),
  ssh_key_type: oneOf('SshKeyType', ['rsa', 'dsa', 'ecdsa']),
  ssh_key_bits: int,
  ...stamped(uuid),
})

const nic: Shape<Nic> = exact({
  mac: string,
  ip: optional(string),
  nicparams: partly(NIC_PARAMS),
  network: optional(mapped(string, networkUuid)),
  name: optional(string),
  uuid: mapped(uuid, nicUuid),
})

const disk: Shape<Disk> = named({
  logical_id: listOf(stringOrNumber),
  dev_type: template,
  children: defaulted(listOf(lazy((): Shape<Disk> => disk)), none),
  nodes: defaulted(listOf(mapped(string, nodeUuid)), none),
  iv_name: defaulted(string, () => ''),
  size: int,
  mode: defaulted(oneOf('DiskMode', ['rw', 'ro']), () => 'rw' as const),
  name: optional(string),
  spindles: optional(int),
  params: optional(params),
  uuid: mapped(uuid, diskUuid),
  serial_no: int,
  ...times,
})

const OBJECTS: { readonly [K in ObjectKind]: Shape<ObjectKinds[K]> } = {
  disks: disk,
  nodes: named({
    name: string,
    primary_ip: string,
    secondary_ip: string,
    master_candidate: bool,
    offline: bool,
    drained: bool,
    group: mapped(string, groupUuid),
    master_capable: bool,
    vm_capable: bool,
    ndparams: partly(ND),
    powered: bool,
    hv_state_static: state,
    disk_state_static: state,
    ...stamped(mapped(uuid, nodeUuid)),
  }),
  nodegroups: named({
    name: string,
    // Nodes know their group, so a stored list is redundant. Ganeti also computes it when it loads.
    members: defaulted(mapped(json, none), none),
    ndparams: partly(ND),
    alloc_policy: oneOf('AllocPolicy', ALLOC_POLICIES),
    ipolicy: partly(ipolicy(partly(ISPEC))),
    diskparams: diskParams,
    networks: dictionary(exact(NIC_PARAMS)),
    hv_state_static: state,
    disk_state_static: state,
    ...stamped(mapped(uuid, groupUuid)),
  }),
  instances: named({
    name: string,
    primary_node: mapped(string, nodeUuid),
    os: string,
    hypervisor,
    hvparams: defaulted(params, empty),
    beparams: defaulted(partly(BE), empty),
    osparams: defaulted(osParams, empty),
    osparams_private: defaulted(osParams, empty),
    admin_state: oneOf('AdminState', ADMIN_STATES),
    admin_state_source: oneOf('AdminStateSource', ADMIN_STATE_SOURCES),
    nics: defaulted(listOf(nic), none),
    disks: defaulted(listOf(mapped(string, diskUuid)), none),
    disks_active: bool,
    network_port: optional(int),
    ...stamped(mapped(uuid, instanceUuid)),
  }),
  networks: named({
    name: string,
    mac_prefix: optional(string),
    network: string,
    network6: optional(string),
    gateway: optional(string),
    gateway6: optional(string),
    reservations: optional(string),
    ext_reservations: optional(string),
    uuid: mapped(uuid, networkUuid),
    ...times,
    serial_no: int,
    tags: defaulted(tags, none),
  }),
  filters: named({
    watermark: int,
    priority: int,
    predicates: listOf(tuple(oneOf('FilterPredicate', ['jobid', 'opcode', 'reason']), json)),
    action: leaf('FilterAction', {}, isFilterAction),
    reason_trail: listOf(tuple(string, string, float)),
    uuid: mapped(uuid, filterUuid),
  }),
}

const top = exact({
  version: int,
  cluster: json,
  nodes: json,
  nodegroups: json,
  instances: json,
  networks: json,
  disks: json,
  filters: json,
  ...times,
  serial_no: int,
})
