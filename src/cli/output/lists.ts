// The `list` command of every tool: default columns, and fields with a special form.
import { pythonText } from '../../lib/text/python-text'
import { formatTimestamp } from './format'
import { EXIT } from '../outcome'
import { listCommand } from './list'
import { namesFilter } from '../input/filter-text'
import { isObject } from '../../lib/shapes/shape'
import type { Cell, QueryFilter, QueryResult } from '../../rpc/luxi/calls'
import type { Call } from '../command'

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
  forPeople: withObjects,
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

type Op = Readonly<Record<string, unknown>>

const tagged = ({ kind, name }: Op) => [kind === 'nodegroup' ? 'group' : kind, name]
const renamed = (old: unknown, { new_name }: Op) => [old, 'to', new_name]

/** Tells the object of opcodes whose summaries do not have it in Ganeti's words. */
const OBJECTS: Readonly<Record<string, (op: Op) => readonly unknown[]>> = {
  ...{ TAGS_SET: tagged, TAGS_DEL: tagged },
  INSTANCE_RENAME: (op) => renamed(op['instance_name'], op),
  GROUP_RENAME: (op) => renamed(op['group_name'], op),
  NETWORK_RENAME: (op) => renamed(op['network_name'], op),
}

/** `TAGS_SET` becomes `TAGS_SET(instance web1)`. */
async function withObjects({ master }: Call, result: QueryResult): Promise<QueryResult> {
  const at = (name: string) => result.fields.findIndex((field) => field.name === name)
  const [id, summary] = [at('id'), at('summary')]
  const bare = (row: readonly Cell[]) => list(row[summary]?.[1]).some((one) => Object.hasOwn(OBJECTS, String(one)))
  const ids = id < 0 ? [] : result.data.filter(bare).map((row) => row[id]?.[1])
  if (ids.length === 0) return result
  const filter: QueryFilter = ['|', ...ids.slice(-OBJECTS_MAX).map((one) => ['==', 'id', one])]
  const { data } = await master.query('job', ['id', 'ops'], filter)
  const ops = new Map(data.map(([key, value]) => [key?.[1], list(value?.[1])]))
  const whole = (row: readonly Cell[]): Cell[] => {
    const own = ops.get(row[id]?.[1]) ?? []
    const reported = list(row[summary]?.[1]).map((one, place) => {
      const op = own[place]
      const words = isObject(op)
        ? OBJECTS[String(one)]?.(op).filter((word) => typeof word === 'string' && word !== '')
        : undefined
      return words === undefined ? one : `${String(one)}(${words.join(' ')})`
    })
    return row.map((cell, place) => (place === summary ? [cell[0], reported] : cell))
  }
  return { ...result, data: result.data.map((row) => (bare(row) ? whole(row) : [...row])) }
}

/** The input of jobs is long. */
const OBJECTS_MAX = 200

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

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

/** `group (mode, link, vlan), ...`; for people, an empty VLAN is left out. */
function connections(groups: unknown, plain: boolean): string {
  if (!Array.isArray(groups)) return ''
  return groups
    .map((group: unknown) => (Array.isArray(group) ? group.map(String) : []))
    .map(([name = '', ...params]) => `${name} (${params.filter((one) => one !== '' || !plain).join(', ')})`)
    .join(', ')
}

/** `mode:owner,owner` of each waiting request. */
function waiters(pending: unknown): string {
  if (!Array.isArray(pending)) return ''
  return pending
    .map((request: unknown) => (Array.isArray(request) ? `${String(request[0])}:${[request[1]].flat().join(',')}` : ''))
    .join(' ')
}
