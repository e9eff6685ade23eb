// Which instances a command is about: by name, by node, by tag, or all.
import type { QueryFilter } from '../rpc/luxi/calls'
import { type Call, CommandFailure } from './command'
import { namesFilter } from './filter-text'

export interface Selection {
  readonly names: readonly string[]
  /** Chosen by something else than one name, so that the user may not know what is in it. */
  readonly several: boolean
}

export async function selectInstances(call: Call): Promise<Selection> {
  const mode = call.options.text('multi_mode') ?? 'instances'
  const names = await namesBy(mode, call)
  if (names.length === 0) throw new CommandFailure('Selection filter does not match any instances')
  return { names, several: mode !== 'instances' || names.length > 1 }
}

async function namesBy(mode: string, call: Call): Promise<string[]> {
  const { args } = call
  if (mode === 'cluster') {
    if (args.length > 0) throw new CommandFailure('Cluster filter mode takes no arguments')
    return instanceNames(call, null)
  }
  if (args.length === 0) throw new CommandFailure('No instances, nodes or tags given to select by')
  switch (mode) {
    case 'instances':
      return instanceNames(call, namesFilter('name', args))
    case 'instances-by-tags':
      return instanceNames(call, anyTag(args))
    case 'nodes-by-tags':
    case 'nodes-pri-by-tags':
    case 'nodes-sec-by-tags':
      return onNodes(call, mode.replace('-by-tags', ''), anyTag(args))
    default:
      return onNodes(call, mode, namesFilter('name', args))
  }
}

const anyTag = (tags: readonly string[]): QueryFilter => ['|', ...tags.map((tag) => ['=[]', 'tags', tag])]

async function instanceNames({ master }: Call, filter: QueryFilter): Promise<string[]> {
  const { data } = await master.query('instance', ['name'], filter)
  return data.map((row) => String(row[0]?.[1]))
}

async function onNodes({ master }: Call, mode: string, filter: QueryFilter): Promise<string[]> {
  const fields = [...(mode === 'nodes-sec' ? [] : ['pinst_list']), ...(mode === 'nodes-pri' ? [] : ['sinst_list'])]
  const { data } = await master.query('node', fields, filter)
  const names = data.flatMap((row) => row.flatMap(([, list]) => (Array.isArray(list) ? list.map(String) : [])))
  return [...new Set(names)]
}
