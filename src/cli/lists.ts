// The `list` command of every tool: default columns, and fields that are shown in a way of their own.
import { formatTimestamp, pythonText } from './format'
import { listCommand } from './list'
import { namesFilter } from './filter-text'

export const listInstances = listCommand({
  what: 'instance',
  nameField: 'name',
  defaults: ['name', 'hypervisor', 'os', 'pnode', 'status', 'oper_ram'],
})

export const listNodes = listCommand({
  what: 'node',
  nameField: 'name',
  defaults: ['name', 'dtotal', 'dfree', 'mtotal', 'mnode', 'mfree', 'pinst_cnt', 'sinst_cnt'],
})

export const listGroups = listCommand({
  what: 'group',
  nameField: 'name',
  defaults: ['name', 'node_cnt', 'pinst_cnt', 'alloc_policy', 'ndparams'],
  show: { ndparams: assignments },
})

export const listNetworks = listCommand({
  what: 'network',
  nameField: 'name',
  defaults: ['name', 'network', 'gateway', 'mac_prefix', 'group_list', 'tags'],
  show: { group_list: connections },
})

export const listJobs = listCommand({
  what: 'job',
  nameField: 'id',
  numeric: true,
  defaults: ['id', 'status', 'summary'],
  show: { received_ts: formatTimestamp, start_ts: formatTimestamp, end_ts: formatTimestamp },
  condition({ options }) {
    const statuses = options.list('status_filter')
    return statuses ? ['|', ...statuses.map((status) => ['==', 'status', status])] : null
  },
  more: ({ options }) => (options.flag('archived') ? ['archived'] : []),
})

export const listFilters = listCommand({
  what: 'filter',
  nameField: 'uuid',
  defaults: ['uuid', 'watermark', 'priority', 'predicates', 'action', 'reason_trail'],
})

export const listExports = listCommand({
  what: 'export',
  nameField: 'node',
  defaults: ['node', 'export'],
  condition: ({ options }) => namesFilter('node', options.list('nodes') ?? []),
})

export const listLocks = listCommand({
  what: 'lock',
  nameField: 'name',
  defaults: ['name', 'mode', 'owner', 'pending'],
  show: { pending: waiters },
})

/** `a=1, b=x` */
function assignments(params: unknown): string {
  if (typeof params !== 'object' || params === null) return ''
  return Object.entries(params)
    .map(([name, value]) => `${name}=${pythonText(value)}`)
    .join(', ')
}

/** `group (mode, link, vlan), ...` */
function connections(groups: unknown): string {
  if (!Array.isArray(groups)) return ''
  return groups
    .map((group: unknown) => (Array.isArray(group) ? group.map(String) : []))
    .map(([name = '', ...params]) => `${name} (${params.join(', ')})`)
    .join(', ')
}

/** `mode:owner,owner` of each request that waits. */
function waiters(pending: unknown): string {
  if (!Array.isArray(pending)) return ''
  return pending
    .map((request: unknown) => (Array.isArray(request) ? `${String(request[0])}:${[request[1]].flat().join(',')}` : ''))
    .join(' ')
}
