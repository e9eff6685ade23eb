// Indexes of one snapshot: objects by the objects that refer to them. Made on demand.
import {
  fillBeParams,
  fillGroupNdParams,
  fillIPolicy,
  fillNdParams,
  fillNicParams,
  fillOsParams,
  hvParamsFiller,
} from '../config/filled'
import { findGroup, findInstance, findNetwork, findNode, instanceDisks, secondaryNodes } from '../config/lookup'
import { recordValues } from '../config/records'
import type {
  BeParams,
  ConfigData,
  Disk,
  Instance,
  IPolicy,
  NdParams,
  Network,
  Nic,
  NicParams,
  Node,
  NodeGroup,
  NodeUuid,
  OsParams,
  Params,
} from '../model/config'
import { niceSortBy } from '../model/nice-sort'

/** Facts about a snapshot that fields of many rows need. Each is computed once, on demand. */
export class ConfigIndex {
  private static readonly indexes = new WeakMap<ConfigData, ConfigIndex>()
  readonly instances = once(() => byName(recordValues(this.config.instances)))
  readonly nodes = once(() => byName(recordValues(this.config.nodes)))
  readonly groups = once(() => byName(recordValues(this.config.nodegroups)))
  readonly networks = once(() => byName(recordValues(this.config.networks)))
  private readonly byPrimary = once(() => grouped(this.instances(), ({ primary_node }) => [primary_node]))
  private readonly bySecondary = once(() => grouped(this.instances(), (instance) => this.secondaries(instance)))
  private readonly byGroup = once(() => grouped(recordValues(this.config.nodes), ({ group }) => [group]))
  private readonly byNetwork = once(() => grouped(recordValues(this.config.instances), networksOf))

  private constructor(readonly config: ConfigData) {}

  static of(config: ConfigData): ConfigIndex {
    let index = this.indexes.get(config)
    if (index === undefined) this.indexes.set(config, (index = new ConfigIndex(config)))
    return index
  }

  findInstance = (name: string): Instance | undefined => inSameCase(findInstance(this.config, name), name)
  findNode = (name: string): Node | undefined => inSameCase(findNode(this.config, name), name)
  findGroup = (name: string): NodeGroup | undefined => findGroup(this.config, name)
  findNetwork = (name: string): Network | undefined => findNetwork(this.config, name)

  primaryInstances = (node: string): readonly Instance[] => this.byPrimary().get(node) ?? []
  secondaryInstances = (node: string): readonly Instance[] => this.bySecondary().get(node) ?? []
  nodesOfGroup = (group: string): readonly Node[] => this.byGroup().get(group) ?? []
  instancesOfNetwork = (network: string): readonly Instance[] => this.byNetwork().get(network) ?? []

  instancesOfGroup(group: string): readonly Instance[] {
    return byName(this.nodesOfGroup(group).flatMap(({ uuid }) => this.primaryInstances(uuid)))
  }

  /** Nodes besides the primary that hold its disks. */
  readonly secondaries = perObject((instance: Instance): readonly NodeUuid[] => secondaryNodes(this.config, instance))
  readonly disks = ofLast((instance: Instance): readonly Disk[] => instanceDisks(this.config, instance))

  nodeName = (uuid: string): string => this.config.nodes[uuid]?.name ?? uuid
  groupName = (uuid: string): string => this.config.nodegroups[uuid]?.name ?? uuid
  groupOfNode = (uuid: string): NodeGroup | undefined => this.config.nodegroups[this.config.nodes[uuid]?.group ?? '']

  readonly beParams = ofLast((instance: Instance): BeParams => fillBeParams(this.config.cluster, instance.beparams))
  readonly hvParams = ofLast((instance: Instance): Params => this.fillHvParams()(instance))
  private readonly fillHvParams = once(() => hvParamsFiller(this.config.cluster, { skipClusterOnly: true }))
  osParams = (instance: Instance): OsParams => fillOsParams(this.config.cluster, instance.os, instance.osparams)
  nicParams = (nic: Nic): NicParams => fillNicParams(this.config.cluster, nic)
  ndParams = (node: Node): NdParams => fillNdParams(this.config, node)
  groupNdParams = (group: NodeGroup): NdParams => fillGroupNdParams(this.config.cluster, group)
  groupIPolicy = (group: NodeGroup): IPolicy => fillIPolicy(this.config.cluster, group)
  /** `{disk template: parameters}` */
  readonly groupDiskParams = perObject((group: NodeGroup): Record<string, Params> => {
    const templates = Object.entries(this.config.cluster.diskparams)
    return Object.fromEntries(templates.map(([name, own]) => [name, { ...own, ...group.diskparams[name] }]))
  })
}

const byName = <T extends { readonly name: string }>(items: readonly T[]): T[] => niceSortBy(items, ({ name }) => name)

const networksOf = ({ nics }: Instance): string[] => [...new Set(nics.flatMap(({ network }) => network ?? []))]

function grouped<T>(items: readonly T[], keysOf: (item: T) => readonly string[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    for (const key of keysOf(item)) {
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [item])
      else group.push(item)
    }
  }
  return groups
}

/** Names must match exactly here. Commands accept short names; lists are filtered by them afterwards. */
function inSameCase<T extends { readonly uuid: string; readonly name: string }>(
  found: T | undefined,
  asked: string,
): T | undefined {
  if (found === undefined || found.uuid === asked || `${found.name}.`.startsWith(`${asked}.`)) return found
  return undefined
}

function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined
  return () => (known ??= { value: compute() }).value
}

function ofLast<O extends object, T>(compute: (object: O) => T): (object: O) => T {
  let last: { readonly object: O; readonly value: T } | undefined
  return (object) => {
    if (last?.object !== object) last = { object, value: compute(object) }
    return last.value
  }
}

function perObject<O extends object, T>(compute: (object: O) => T): (object: O) => T {
  const known = new Known<O, T>()
  return (object) => known.get(object, () => compute(object))
}

class Known<K, T> {
  private readonly values = new Map<K, T>()

  get(key: K, compute: () => T): T {
    let value = this.values.get(key)
    if (value === undefined) this.values.set(key, (value = compute()))
    return value
  }
}
