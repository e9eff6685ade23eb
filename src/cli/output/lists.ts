// The `list` command of every tool: default columns, and fields with a special form.
import { pythonText } from '../../lib/text/python-text'
import { formatTimestamp } from './format'
import { EXIT } from '../outcome'
import { listCommand } from './list'
import { namesFilter } from '../input/filter-text'
import type { QueryFilter } from '../../rpc/luxi/calls'

export const listInstances = listCommand({
  what: 'instance',
  nameField: 'name',
  defaults: ['name', 'hypervisor', 'os', 'pnode', 'status', 'oper_ram'],
  show: {
    tags: joined,
    'disk.sizes': joined,
    'nic.macs': joined,
    'nic.ips': joined,
    'nic.modes': joined,
    'nic.links': joined,
    'nic.bridges': joined,
    'nic.networks': joined,
    snodes: joined,
    'snodes.group': joined,
    'snodes.group.uuid': joined,
  },
})

export const listNodes = listCommand({
  what: 'node',
  nameField: 'name',
  defaults: ['name', 'dtotal', 'dfree', 'mtotal', 'mnode', 'mfree', 'pinst_cnt', 'sinst_cnt'],
  show: { pinst_list: joined, sinst_list: joined, tags: joined },
})

export const listGroups = listCommand({
  what: 'group',
  nameField: 'name',
  defaults: ['name', 'node_cnt', 'pinst_cnt', 'alloc_policy', 'ndparams'],
  show: { node_list: joined, pinst_list: joined, ndparams: assignments },
})

export const listNetworks = listCommand({
  what: 'network',
  nameField: 'name',
  defaults: ['name', 'network', 'gateway', 'mac_prefix', 'group_list', 'tags'],
  show: { group_list: connections, inst_list: joined, tags: joined },
})

export const jobColumns = { show: { summary: summaries, opstart: moments, opexec: moments, opend: moments } }

export const jobsIn = (statuses: readonly unknown[]): QueryFilter => [
  '|',
  ...statuses.map((status) => ['==', 'status', status]),
]

export const listJobs = listCommand({
  ...jobColumns,
  what: 'job',
  nameField: 'id',
  numeric: true,
  defaults: ['id', 'status', 'summary'],
  condition({ options }) {
    const statuses = options.list('status_filter')
    return statuses ? jobsIn(statuses) : null
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

const locks = listCommand({
  what: 'lock',
  nameField: 'name',
  defaults: ['name', 'mode', 'owner', 'pending'],
  show: { pending: waiters },
})

/** With an interval, repeats the list until it fails or is interrupted. */
export const listLocks: typeof locks = {
  ...locks,
  async run(call) {
    const interval_s = call.options.number('interval') ?? 0
    for (;;) {
      const code = await locks.run(call)
      if (interval_s <= 0 || code !== EXIT.ok) return code
      call.terminal.out('')
      await call.clock.sleep(interval_s * 1000)
    }
  },
}

/** `a,b`; other lists have Python's form. */
function joined(value: unknown): string {
  return Array.isArray(value) ? value.map(pythonText).join(',') : pythonText(value)
}

/** luxid counts a delay in nanoseconds, as Ganeti's does. */
function summaries(value: unknown): string {
  return joined(value).replace(/\((\d+) ns\)/g, (_, ns: string) => `(${Number(ns) / 1e9} s)`)
}

/** Formats the times of a job's opcodes. */
function moments(value: unknown): string {
  return pythonText(Array.isArray(value) ? value.map(formatTimestamp) : value)
}

/** `a=1, b=x` */
function assignments(params: unknown): string {
  if (typeof params !== 'object' || params === null || Object.keys(params).length === 0) return '(empty)'
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

/** `mode:owner,owner` of each waiting request. */
function waiters(pending: unknown): string {
  if (!Array.isArray(pending)) return ''
  return pending
    .map((request: unknown) => (Array.isArray(request) ? `${String(request[0])}:${[request[1]].flat().join(',')}` : ''))
    .join(' ')
}
