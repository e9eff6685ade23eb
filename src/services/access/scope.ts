// The scope of a token: the objects with its tags and of its groups, and the part of the cluster that its holder may
// know. Pure.
import { findGroup, findInstance, findNetwork, findNode, instanceNodes } from '../../config/lookup'
import { type Dictionary, recordFrom, recordValues } from '../../config/records'
import type { ConfigData, Instance, Network, Node, NodeGroup } from '../../model/config'
import type { TokenScope } from '../../rpc/luxi/gantry'

export type Scope = Pick<TokenScope, 'tags' | 'groups'>

/** The properties of an object that decide whether it is in a scope. */
export interface Described {
  readonly tags: readonly string[]
  readonly groups: readonly string[]
}

export const isLimited = ({ tags, groups }: Scope): boolean => tags.length > 0 || groups.length > 0

export function covers(scope: Scope, { tags, groups }: Described): boolean {
  const tagged = scope.tags.length === 0 || tags.some((tag) => scope.tags.includes(tag))
  const placed = scope.groups.length === 0 || (groups.length > 0 && groups.every((name) => scope.groups.includes(name)))
  return tagged && placed
}

/** True when the wider scope covers everything that the narrower one covers. */
export function includes(wider: Scope, narrower: Scope): boolean {
  const within = (outer: readonly string[], inner: readonly string[]): boolean =>
    outer.length === 0 || (inner.length > 0 && inner.every((one) => outer.includes(one)))
  return within(wider.tags, narrower.tags) && within(wider.groups, narrower.groups)
}

/** Undefined if there is no such object, and for kinds with neither tags nor group. */
export function describe(config: ConfigData, kind: string, name: string): Described | undefined {
  switch (kind) {
    case 'instance': {
      const instance = findInstance(config, name)
      return instance && ofInstance(config, instance)
    }
    case 'node': {
      const node = findNode(config, name)
      return node && ofNode(config, node)
    }
    case 'group': {
      const group = findGroup(config, name)
      return group && ofGroup(group)
    }
    case 'network': {
      const network = findNetwork(config, name)
      return network && ofNetwork(network)
    }
    default:
      return undefined
  }
}

/**
 * The cluster as far as the scope may know it: the objects in it, the nodes and networks of its instances, the networks
 * of its groups, and the groups of all these nodes. Other references look as if their target did not exist.
 */
export function knownTo(scope: Scope, config: ConfigData): ConfigData {
  const instances = recordValues(config.instances).filter((one) => covers(scope, ofInstance(config, one)))
  const groups = recordValues(config.nodegroups).filter((one) => covers(scope, ofGroup(one)))
  const usedNodes = new Set<string>(instances.flatMap((instance) => instanceNodes(config, instance)))
  const usedNetworks = new Set<string>([
    ...instances.flatMap(({ nics }) => nics.flatMap(({ network }) => network ?? [])),
    ...groups.flatMap(({ networks }) => Object.keys(networks)),
  ])
  const nodes = recordValues(config.nodes).filter(
    (one) => usedNodes.has(one.uuid) || covers(scope, ofNode(config, one)),
  )
  const networks = recordValues(config.networks).filter(
    (one) => usedNetworks.has(one.uuid) || covers(scope, ofNetwork(one)),
  )
  const usedGroups = new Set<string>([...groups.map(({ uuid }) => uuid), ...nodes.map(({ group }) => group)])
  return {
    ...config,
    instances: byUuid(instances),
    nodes: byUuid(nodes),
    networks: byUuid(networks),
    nodegroups: byUuid(recordValues(config.nodegroups).filter(({ uuid }) => usedGroups.has(uuid))),
  }
}

const byUuid = <T extends { readonly uuid: string }>(objects: readonly T[]): Dictionary<T> =>
  recordFrom(objects.map((object) => [object.uuid, object]))

const ofNode = (config: ConfigData, { tags, group }: Node): Described => ({
  tags,
  groups: [config.nodegroups[group]?.name ?? []].flat(),
})

const ofGroup = ({ tags, name }: NodeGroup): Described => ({ tags, groups: [name] })

const ofNetwork = ({ tags }: Network): Described => ({ tags, groups: [] })

function ofInstance(config: ConfigData, { tags, primary_node }: Instance): Described {
  const node = config.nodes[primary_node]
  return { tags, groups: node === undefined ? [] : ofNode(config, node).groups }
}
