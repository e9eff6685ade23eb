// Indexes of one snapshot: objects by the objects that refer to them. Made on demand.
import { type ToldParameter, toldParameters } from '../model/disk-parameters'
import {
  fillBeParams,
  fillGroupNdParams,
  fillIPolicy,
  fillNdParams,
  fillNicParams,
  fillOsParams,
  hvParamsFiller,
} from '../config/filled'
import { findGroup, findNetwork, instancesOfNetwork, nodesOfGroup } from '../config/lookup'
import { ConfigQuestions, type RoleName } from '../config/questions'
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
  private readonly questions: ConfigQuestions
  private constructor(readonly config: ConfigData) {
    this.questions = new ConfigQuestions(config)
  }

  static of(config: ConfigData): ConfigIndex {
    let index = this.indexes.get(config)
    if (index === undefined) this.indexes.set(config, (index = new ConfigIndex(config)))
    return index
  }

  findInstance = (name: string): Instance | undefined => onlyOne(this.questions.instancesNamed(name))
  findNode = (name: string): Node | undefined => onlyOne(this.questions.nodesNamed(name))
  findGroup = (name: string): NodeGroup | undefined => findGroup(this.config, name)
  findNetwork = (name: string): Network | undefined => findNetwork(this.config, name)

  master = (): Node | undefined => this.questions.master()
  roleOf = (node: Node): RoleName => this.questions.roleOf(node)
  primaryOf = (instance: Instance): Node | undefined => this.questions.primaryOf(instance)
  primaryInstances = (node: string): readonly Instance[] => this.instancesOn(node).primary
  secondaryInstances = (node: string): readonly Instance[] => this.instancesOn(node).secondary
  private readonly instancesOn = perKey((node: string) => {
    const { primary, secondary } = this.questions.instancesOn(node)
    return { primary: byName(primary), secondary: byName(secondary) }
  })
  readonly nodesOfGroup = perKey((group: string): readonly Node[] => nodesOfGroup(this.config, group))
  readonly instancesOfNetwork = perKey((network: string): readonly Instance[] =>
    instancesOfNetwork(this.config, network),
  )

  instancesOfGroup(group: string): readonly Instance[] {
    return byName(this.nodesOfGroup(group).flatMap(({ uuid }) => this.primaryInstances(uuid)))
  }

  /** Nodes besides the primary that hold its disks. */
  readonly secondaries = perKey((instance: Instance): readonly NodeUuid[] => this.questions.secondariesOf(instance))
  readonly disks = ofLast((instance: Instance): readonly Disk[] => this.questions.disksOf(instance))

  nodeName = (uuid: string): string => this.questions.nodeName(uuid)
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
  diskParameters = (instance: Instance, disk: Disk): ToldParameter[] =>
    toldParameters(disk, this.groupOfNode(instance.primary_node), this.config.cluster)
  /** `{disk template: parameters}` */
  readonly groupDiskParams = perKey((group: NodeGroup): Record<string, Params> => {
    const templates = Object.entries(this.config.cluster.diskparams)
    return Object.fromEntries(templates.map(([name, own]) => [name, { ...own, ...group.diskparams[name] }]))
  })
}

const byName = <T extends { readonly name: string }>(items: readonly T[]): T[] => niceSortBy(items, ({ name }) => name)

const onlyOne = <T>([first, another]: readonly T[]): T | undefined => (another === undefined ? first : undefined)

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

function perKey<K, T>(compute: (key: K) => T): (key: K) => T {
  const known = new Map<K, T>()
  return (key) => {
    let value = known.get(key)
    if (value === undefined) known.set(key, (value = compute(key)))
    return value
  }
}
