// Finds objects by a part of their name, a few of each kind.
import { request } from '../api/client'
import { allOf, nameLike } from '../parts/conditions'

export type FoundKind = 'instances' | 'nodes' | 'groups' | 'networks' | 'os' | 'tags'
export type Found = Readonly<Record<FoundKind, readonly string[]>>

const FOUND_MAX = 6

const NEEDS: Readonly<Record<FoundKind, string>> = {
  instances: 'instances.list',
  nodes: 'nodes.list',
  groups: 'groups.list',
  networks: 'networks.list',
  os: 'os.list',
  tags: 'tags.get',
}

export async function find(letters: string, may: (permission: string) => boolean): Promise<Found> {
  const filter = allOf([nameLike(letters)]) ?? ''
  const named = { fields: 'name', limit: String(FOUND_MAX), filter }
  const [instances, nodes, groups, networks, os, tags] = await Promise.all([
    ask('instances', named, may),
    ask('nodes', named, may),
    ask('groups', named, may),
    ask('networks', named, may),
    ask('os', named, may),
    ask('tags', { like: letters, limit: String(FOUND_MAX) }, may),
  ])
  return { instances, nodes, groups, networks, os, tags }
}

/** If one kind cannot be loaded, the others are still shown. */
async function ask(
  kind: FoundKind,
  query: Readonly<Record<string, string>>,
  may: (permission: string) => boolean,
): Promise<string[]> {
  if (!may(NEEDS[kind])) return []
  try {
    const answer = await request('GET', `/3/${kind}?${new URLSearchParams(query).toString()}`)
    const { items } = answer as { items: readonly { name?: string; tag?: string }[] }
    return items.flatMap(({ name, tag }) => name ?? tag ?? [])
  } catch {
    return []
  }
}
