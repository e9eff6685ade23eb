// The fields of each kind of object in RAPI, and their form.
import type { Column } from './python-writer'

const columnOf = (field: string): Column => ({ field, key: field })

export const INSTANCE_FIELDS = [
  'name',
  'admin_state',
  'os',
  'pnode',
  'snodes',
  'disk_template',
  'nic.ips',
  'nic.macs',
  'nic.modes',
  'nic.uuids',
  'nic.names',
  'nic.links',
  'nic.networks',
  'nic.networks.names',
  'nic.bridges',
  'network_port',
  'disk.sizes',
  'disk.spindles',
  'disk_usage',
  'disk.uuids',
  'disk.names',
  'beparams',
  'hvparams',
  'oper_state',
  'oper_ram',
  'oper_vcpus',
  'status',
  'custom_hvparams',
  'custom_beparams',
  'custom_nicparams',
  'custom_osparams',
  'ctime',
  'mtime',
  'uuid',
  'serial_no',
  'tags',
] as const

/** Older clients read the memory under `memory`. */
export const INSTANCE_COLUMNS: readonly Column[] = INSTANCE_FIELDS.flatMap((field) =>
  field === 'beparams' ? [{ field: 'be/maxmem', key: 'memory', within: true }, columnOf(field)] : [columnOf(field)],
)

export const NODE_FIELDS = [
  'name',
  'offline',
  'master_candidate',
  'drained',
  'dtotal',
  'dfree',
  'sptotal',
  'spfree',
  'mtotal',
  'mnode',
  'mfree',
  'pinst_cnt',
  'sinst_cnt',
  'ctotal',
  'cnos',
  'cnodes',
  'csockets',
  'pip',
  'sip',
  'role',
  'pinst_list',
  'sinst_list',
  'master_capable',
  'vm_capable',
  'ndparams',
  'group.uuid',
  'ctime',
  'mtime',
  'uuid',
  'serial_no',
  'tags',
] as const

export const NODE_LIST_COLUMNS: readonly Column[] = NODE_FIELDS.map(columnOf)

/** Only a single node also shows its secondary address under the long name. */
export const NODE_COLUMNS: readonly Column[] = [...NODE_LIST_COLUMNS, { field: 'sip', key: 'secondary_ip' }]

export const NETWORK_FIELDS = [
  'name',
  'network',
  'gateway',
  'network6',
  'gateway6',
  'mac_prefix',
  'free_count',
  'reserved_count',
  'map',
  'group_list',
  'inst_list',
  'external_reservations',
  'ctime',
  'mtime',
  'uuid',
  'serial_no',
  'tags',
] as const

export const GROUP_FIELDS = [
  'alloc_policy',
  'name',
  'node_cnt',
  'node_list',
  'ipolicy',
  'custom_ipolicy',
  'diskparams',
  'custom_diskparams',
  'ndparams',
  'custom_ndparams',
  'ctime',
  'mtime',
  'uuid',
  'serial_no',
  'tags',
] as const

export const JOB_BULK_FIELDS = [
  'id',
  'ops',
  'status',
  'summary',
  'opstatus',
  'received_ts',
  'start_ts',
  'end_ts',
] as const

export const JOB_LIST_COLUMNS: readonly Column[] = JOB_BULK_FIELDS.map(columnOf)

export const JOB_FIELDS = [...JOB_BULK_FIELDS, 'oplog', 'opresult'] as const

export const FILTER_FIELDS = ['watermark', 'priority', 'predicates', 'action', 'reason_trail', 'uuid'] as const

export const OS_BULK_FIELDS = [
  'name',
  'valid',
  'variants',
  'parameters',
  'api_versions',
  'blacklisted',
  'hidden',
  'trusted',
] as const
