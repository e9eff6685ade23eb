import { type Call, EXIT } from './command'
import { pythonText } from './format'
import { type Info, formatInfo, toInfo } from './info'
import { namesFilter } from './filter-text'

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

export async function showNodes({ args, master, terminal }: Call): Promise<number> {
  const { data } = await master.query('node', FIELDS, namesFilter('name', args))
  const nodes = data.map((row) => new Map(FIELDS.map((name, at) => [name, row[at]?.[1] ?? null])))
  for (const line of formatInfo(nodes.map(nodeInfo))) terminal.out(line)
  return EXIT.ok
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
    info.set('primary for instances', toInfo(node.get('pinst_list')))
    info.set('secondary for instances', toInfo(node.get('sinst_list')))
  }
  info.set('node parameters', withDefaults(node.get('custom_ndparams'), node.get('ndparams')))
  return info
}

/** Effective parameters; those that come from above are marked. */
export function withDefaults(own: unknown, actual: unknown): Info {
  const isSet = (name: string) => typeof own === 'object' && own !== null && Object.hasOwn(own, name)
  const all = typeof actual === 'object' && actual !== null ? Object.entries(actual) : []
  return new Map(
    all
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => [name, isSet(name) ? pythonText(value) : `default (${pythonText(value)})`]),
  )
}
