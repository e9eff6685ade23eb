// The queries for the picture: all nodes, and the instances of a group or node, page by page.
import { queryOptions } from '@tanstack/react-query'
import { WITHOUT_INSTANCES } from '../../api/changes'
import { api, got } from '../../api/client'
import type { Instance } from '../instances/instance'
import type { ClusterNode } from '../nodes/node'

const PAGE = 1000
const NODE_FIELDS = 'name,role,group,pinst_cnt,sinst_cnt,mfree,mtotal,tags,offline,drained'
const INSTANCE_FIELDS = 'name,pnode,snodes,status,forthcoming,disks_active'

interface Pages<View> {
  readonly items: readonly View[]
  readonly next: string | null
}

async function all<View>(page: (after: string | undefined) => Promise<Pages<View>>): Promise<View[]> {
  const found: View[] = []
  let after: string | undefined
  do {
    const { items, next } = await page(after)
    found.push(...items)
    after = next ?? undefined
  } while (after !== undefined)
  return found
}

const named = <View extends { name?: string }>(items: readonly View[]): (View & { name: string })[] =>
  items.flatMap((item) => (item.name === undefined ? [] : [{ ...item, name: item.name }]))

/** The nodes' last answers, so that a picture waits for no node. */
export const nodesQuery = queryOptions({
  queryKey: ['nodes', 'list', 'picture'],
  queryFn: ({ signal }) => nodesWith(NODE_FIELDS, signal),
})

export const nodeGroupsQuery = queryOptions({
  queryKey: ['nodes', 'list', 'groups'],
  queryFn: ({ signal }) => nodesWith('name,group', signal),
  meta: WITHOUT_INSTANCES,
})

async function nodesWith(fields: string, signal: AbortSignal): Promise<ClusterNode[]> {
  const query = { fields, known: true, limit: PAGE }
  return named(await all((after) => got(api.GET('/3/nodes', { params: { query: { ...query, after } }, signal }))))
}

interface Where {
  readonly group?: string
  /** The node that is their primary or secondary. */
  readonly node?: string
}

/** `live`: refetched whenever an instance has changed, which is too much for thousands. */
export const instancesQuery = (where: Where, live: boolean) =>
  queryOptions({
    queryKey: [...(live ? ['instances', 'list'] : ['picture']), 'instances', where],
    queryFn: async ({ signal }): Promise<Instance[]> => {
      const query = { fields: INSTANCE_FIELDS, filter: filterOf(where), known: true, limit: PAGE }
      return named(
        await all((after) => got(api.GET('/3/instances', { params: { query: { ...query, after } }, signal }))),
      )
    },
  })

function filterOf({ group, node }: Where): string | undefined {
  if (node !== undefined) return JSON.stringify(['|', ['==', 'pnode', node], ['=[]', 'snodes', node]])
  return group === undefined ? undefined : JSON.stringify(['==', 'pnode.group', group])
}
