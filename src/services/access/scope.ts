// The scope of a token: the objects with its tags and of its groups, and the part of the cluster that its holder may
// know. Pure.
import {
  findGroup,
  findInstance,
  findNetwork,
  findNode,
  groupByName,
  instanceNodes,
  nodesOfGroup,
  primaryInstances,
  secondaryInstances,
} from '../../config/lookup'
import { type Dictionary, type Index, recordFind, recordFrom, recordGet, recordValues } from '../../config/records'
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
 * of its groups, and the groups of all these nodes. Other references look as if their target did not exist. Costs as much
 * as the scope has objects, once for each snapshot.
 */
export function knownTo(scope: Scope, config: ConfigData): ConfigData {
  const ofConfig = known.get(config) ?? new Map<string, ConfigData>()
  known.set(config, ofConfig)
  const key = JSON.stringify([scope.tags, scope.groups])
  const made = ofConfig.get(key) ?? part(scope, config)
  ofConfig.set(key, made)
  return made
}

const known = new WeakMap<ConfigData, Map<string, ConfigData>>()

function part(scope: Scope, config: ConfigData): ConfigData {
  const [instances, groups] = [instancesIn(scope, config), groupsIn(scope, config)]
  const usedNetworks = [
    ...instances.flatMap(({ nics }) => nics.flatMap(({ network }) => network ?? [])),
    ...groups.flatMap(({ networks }) => Object.keys(networks)),
  ]
  const nodes = [
    ...pick(
      config.nodes,
      instances.flatMap((instance) => instanceNodes(config, instance)),
    ),
    ...nodesIn(scope, config),
  ]
  return {
    ...config,
    instances: byUuid(instances),
    nodes: byUuid(nodes),
    networks: byUuid([...pick(config.networks, usedNetworks), ...networksIn(scope, config)]),
    nodegroups: byUuid([
      ...groups,
      ...pick(
        config.nodegroups,
        nodes.map(({ group }) => group),
      ),
    ]),
  }
}

/** Where instances outside of the scope are. */
export function unseenBy(scope: Scope, config: ConfigData): Unseen {
  const isHidden = (instance: Instance): boolean => !covers(scope, ofInstance(config, instance))
  const primary = (node: string): boolean => primaryInstances(config, node).some(isHidden)
  const secondary = (node: string): boolean => secondaryInstances(config, node).some(isHidden)
  const group = (uuid: string): boolean =>
    nodesOfGroup(config, uuid).some((node) => primary(node.uuid) || secondary(node.uuid))
  return { primary, secondary, group }
}

/** The kinds of objects that opcodes name, of which the scope has none. */
export function kindsWithout(scope: Scope, config: ConfigData): string[] {
  const kinds = {
    instance: instancesIn(scope, config),
    node: nodesIn(scope, config),
    group: groupsIn(scope, config),
    network: networksIn(scope, config),
  }
  return Object.entries(kinds).flatMap(([kind, covered]) => (covered.length === 0 ? [kind] : []))
}

const byTag: Index<Pick<Described, 'tags'>> = { textsOf: ({ tags }) => tags }

/** The objects that the scope covers, among those with its tags, or of its groups if it has no tags. */
function inScope<T extends Pick<Described, 'tags'>>(
  scope: Scope,
  all: Dictionary<T>,
  ofGroups: () => readonly T[],
  describeOne: (object: T) => Described,
): T[] {
  const tagged = () => scope.tags.flatMap((tag) => recordFind(all, byTag, tag))
  const some = !isLimited(scope) ? recordValues(all) : scope.tags.length > 0 ? tagged() : ofGroups()
  return [...new Set(some)].filter((object) => covers(scope, describeOne(object)))
}

function groupsIn(scope: Scope, config: ConfigData): NodeGroup[] {
  return inScope(
    scope,
    config.nodegroups,
    () => scope.groups.flatMap((name) => groupByName(config, name) ?? []),
    ofGroup,
  )
}

function nodesIn(scope: Scope, config: ConfigData): Node[] {
  const ofGroups = () => groupsIn(scope, config).flatMap(({ uuid }) => nodesOfGroup(config, uuid))
  return inScope(scope, config.nodes, ofGroups, (node) => ofNode(config, node))
}

function instancesIn(scope: Scope, config: ConfigData): Instance[] {
  const ofGroups = () => nodesIn(scope, config).flatMap(({ uuid }) => primaryInstances(config, uuid))
  return inScope(scope, config.instances, ofGroups, (instance) => ofInstance(config, instance))
}

/** A network is in no group. */
const networksIn = (scope: Scope, config: ConfigData): Network[] => inScope(scope, config.networks, () => [], ofNetwork)

const pick = <T>(all: Dictionary<T>, uuids: readonly string[]): T[] =>
  [...new Set(uuids)].flatMap((uuid) => recordGet(all, uuid) ?? [])

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
