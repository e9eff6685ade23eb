// gnt-node info.
import { pythonText } from '../../lib/text/python-text'
import type { Call } from '../command'
import { niceSort } from '../../model/nice-sort'
import { type Info, formatInfo } from '../output/info'
import { tellMissing } from '../output/missing'

const FIELDS = [
  'name',
  'pip',
  'sip',
  'pinst_list',
  'sinst_list',
  'master_candidate',
  'drained',
  'offline',
  'master_capable',
  'vm_capable',
  'powered',
  'ndparams',
  'custom_ndparams',
] as const

export async function showNodes(call: Call): Promise<number> {
  const { args, master, terminal } = call
  const rows = await master.queryNodes(args, FIELDS, false)
  const nodes = rows.map((row) => new Map(FIELDS.map((name, at) => [name, row[at] ?? null])))
  for (const line of formatInfo(nodes.map(nodeInfo))) terminal.out(line)
  return tellMissing(
    call,
    'Node',
    nodes.map((node) => node.get('name')),
  )
}

function nodeInfo(node: ReadonlyMap<string, unknown>): Info {
  const info = new Map<string, Info>([
    ['Node name', pythonText(node.get('name'))],
    ['primary ip', pythonText(node.get('pip'))],
    ['secondary ip', pythonText(node.get('sip'))],
    ['master candidate', pythonText(node.get('master_candidate'))],
    ['drained', pythonText(node.get('drained'))],
    ['offline', pythonText(node.get('offline'))],
  ])
  if (node.get('powered') !== null) info.set('powered', pythonText(node.get('powered')))
  info.set('master_capable', pythonText(node.get('master_capable')))
  info.set('vm_capable', pythonText(node.get('vm_capable')))
  if (node.get('vm_capable') === true) {
    info.set('primary for instances', sorted(node.get('pinst_list')))
    info.set('secondary for instances', sorted(node.get('sinst_list')))
  }
  info.set('node parameters', withDefaults(node.get('custom_ndparams'), node.get('ndparams')))
  return info
}

const sorted = (names: unknown): Info => niceSort(Array.isArray(names) ? names.map(String) : [])

/** Effective parameters; inherited ones are marked. */
export function withDefaults(own: unknown, actual: unknown): Info {
  const owned = dict(own)
  const pairs = Object.entries(dict(actual)).map(([name, value]): [string, Info] => {
    if (Object.keys(dict(value)).length > 0) return [name, withDefaults(owned[name], value)]
    return [name, Object.hasOwn(owned, name) ? pythonText(owned[name]) : `default (${pythonText(value)})`]
  })
  return new Map(pairs.sort(([a], [b]) => (a < b ? -1 : 1)))
}

const dict = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
