// The scope of a token: the objects with its tags and of its groups, and the part of the cluster that its holder may
// know. Pure.
import { findGroup, findInstance, findNetwork, findNode, instanceNodes, secondaryNodes } from '../../config/lookup'
import { type Dictionary, recordFrom, recordValues } from '../../config/records'
import type { ConfigData, Instance, Network, Node, NodeGroup } from '../../model/config'
import type { Unseen } from '../../query/source'
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

/** Where instances outside of the scope are. */
export function unseenBy(scope: Scope, config: ConfigData): Unseen {
  const hidden = once(() => recordValues(config.instances).filter((one) => !covers(scope, ofInstance(config, one))))
  const primaries = once(() => new Set<string>(hidden().map(({ primary_node }) => primary_node)))
  const secondaries = once(() => new Set<string>(hidden().flatMap((instance) => secondaryNodes(config, instance))))
  const groups = once(
    () => new Set<string>([...primaries(), ...secondaries()].flatMap((uuid) => config.nodes[uuid]?.group ?? [])),
  )
  return { primaries, secondaries, groups }
}

/** The kinds of objects that opcodes name, of which the scope has none. */
export function kindsWithout(scope: Scope, config: ConfigData): string[] {
  const kinds = {
    ...{ instance: config.instances, node: config.nodes, group: config.nodegroups, network: config.networks },
  }
  return Object.entries(kinds).flatMap(([kind, all]) => {
    const isCovered = Object.keys(all).some((uuid) => {
      const found = describe(config, kind, uuid)
      return found !== undefined && covers(scope, found)
    })
    return isCovered ? [] : [kind]
  })
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined
  return () => (known ??= { value: compute() }).value
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
