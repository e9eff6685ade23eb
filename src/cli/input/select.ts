// Selects a command's instances: by name, by node, by tag, or all.
import type { QueryFilter } from '../../rpc/luxi/calls'
import { ECODE } from '../../model/errors'
import type { Call } from '../command'
import { isNamed } from '../output/data'
import { refusal } from '../outcome'

export interface Selection {
  readonly names: readonly string[]
  /** The instances were not chosen by a single name, so the user may not know which they are. */
  readonly several: boolean
}

export async function selectInstances(call: Call): Promise<Selection> {
  const mode = call.options.text('multi_mode') ?? 'instances'
  const names = await namesBy(mode, call)
  if (names.length === 0 && mode !== 'cluster') throw refusal('Selection filter does not match any instances')
  return { names, several: mode !== 'instances' || names.length > 1 }
}

async function namesBy(mode: string, call: Call): Promise<string[]> {
  const { args } = call
  if (mode === 'cluster') {
    if (args.length > 0) throw refusal('Cluster filter mode takes no arguments')
    return instanceNames(call, null)
  }
  if (args.length === 0)
    throw refusal(
      `No ${mode.startsWith('nodes') ? 'node' : 'instance'} ${mode.endsWith('tags') ? 'tags' : 'names'} passed`,
    )
  switch (mode) {
    case 'instances':
      return namedInstances(call)
    case 'instances-by-tags':
      return instanceNames(call, anyTag(args))
    case 'nodes-by-tags':
    case 'nodes-pri-by-tags':
    case 'nodes-sec-by-tags':
      return onNodes(call, mode.replace('-by-tags', ''), await taggedNodes(call, args))
    default:
      return onNodes(call, mode, args)
  }
}

/** All of them, or none: who names five must not get four. */
async function namedInstances({ args, master }: Call): Promise<string[]> {
  const rows = await master.queryInstances(args, ['name', 'uuid'], false)
  const found = rows.map((row) => row.map(String))
  const missing = args.find((arg) => !found.some(([name = '', uuid]) => arg === uuid || isNamed(name, arg)))
  if (missing !== undefined) throw refusal(`Instance '${missing}' not known`, ECODE.NOENT)
  return found.map(([name = '']) => name)
}

const anyTag = (tags: readonly string[]): QueryFilter => ['|', ...tags.map((tag) => ['=[]', 'tags', tag])]

async function instanceNames({ master }: Call, filter: QueryFilter): Promise<string[]> {
  const { data } = await master.query('instance', ['name'], filter)
  return data.map((row) => String(row[0]?.[1]))
}

async function taggedNodes({ master }: Call, tags: readonly string[]): Promise<string[]> {
  const { data } = await master.query('node', ['name'], anyTag(tags))
  return data.map((row) => String(row[0]?.[1]))
}

async function onNodes({ master }: Call, mode: string, nodes: readonly string[]): Promise<string[]> {
  // An empty list of names would select all nodes.
  if (nodes.length === 0) return []
  const fields = [...(mode === 'nodes-sec' ? [] : ['pinst_list']), ...(mode === 'nodes-pri' ? [] : ['sinst_list'])]
  const rows = await master.queryNodes(nodes, fields, false)
  const names = rows.flatMap((row) => row.flatMap((list) => (Array.isArray(list) ? list.map(String) : [])))
  return [...new Set(names)]
}
