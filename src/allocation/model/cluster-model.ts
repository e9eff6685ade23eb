// The cluster as numbers: one row of a typed array per node, instances as columns, names as indexes. Built from plain
// records and the few settings that change their meaning.
import {
  BadClusterData,
  type ClusterData,
  type InstanceData,
  NO_NODE,
  type NodeData,
  isOffline,
  isShared,
  memoryForInstances,
  usesMemory,
} from './cluster-data'
import { aliases, findNames } from './names'
import { locationTags, migrationTags, prefixesOf, withPrefix } from './tags'
import { isMirroredInside, isOnLvm } from '../../model/templates'

/** Columns of a node's row. `_ALL` counts forthcoming instances too. */
export const enum Col {
  InstanceMemory,
  FreeMemoryAll,
  FreeDisk,
  FreeDiskAll,
  Vcpus,
  VcpusAll,
  FreeSpindles,
  FreeSpindlesAll,
  UsedSpindles,
  UsedSpindlesAll,
  Reserved,
  LoadCpu,
  LoadMemory,
  LoadDisk,
  LoadNet,
  FailsN1,
  Primaries,
  Secondaries,
  TagClashes,
  Location,
  Width,
}

export interface Settings {
  readonly exclusionTags?: readonly string[]
  readonly selected?: readonly string[]
  readonly excluded?: readonly string[]
  readonly utilisation?: ReadonlyMap<string, readonly number[]>
  readonly ignoreUtilisation?: boolean
  /** By node: the measured load of its processors. */
  readonly nodeLoads?: ReadonlyMap<string, number>
  readonly offline?: readonly string[]
  readonly maxCpu?: number
  readonly minDisk?: number
}

/** Properties of a node that never change. */
export interface NodeFacts {
  readonly data: NodeData
  readonly alias: string
  readonly offline: boolean
  /** The memory for instances on an empty node: without the node's own, and without memory that is unaccounted for. */
  readonly usable: number
  readonly unaccounted: number
  readonly lowDisk: number
  readonly vcpuRatio: number
  readonly highSpindles: number
  readonly migration: ReadonlySet<string>
  readonly receives: ReadonlySet<string>
  readonly locations: ReadonlySet<string>
}

export interface InstanceFacts {
  readonly data: InstanceData
  readonly alias: string
  readonly movable: boolean
  readonly online: boolean
  readonly usesMemory: boolean
  /** Memory that its secondary keeps for it. */
  readonly reserve: number
  /** Whether its disks take from the nodes' storage that is counted. */
  readonly local: boolean
  /** Only volumes use spindles, and only where their storage is counted. */
  readonly spindleUse: number
  readonly util: readonly number[]
  readonly exclusion: readonly string[]
  readonly desired: readonly string[]
}

export interface ClusterModel {
  readonly settings: Settings
  readonly data: ClusterData
  readonly nodes: readonly NodeFacts[]
  readonly instances: InstanceFacts[]
  /** Counts the changes. */
  version: number
  /** Rows of all nodes. */
  readonly rows: Float64Array
  primary: Int32Array
  secondary: Int32Array
  /** By node: the memory that each primary node's instances need here if that node dies. */
  readonly peers: readonly Map<number, number>[]
  /** By primary node: the nodes that have it in `peers`. */
  readonly served: readonly Set<number>[]
  /** By node: the exclusion tags of its primaries, with counts. */
  readonly tagCounts: readonly Map<string, number>[]
  readonly suffix: string
  readonly warnings: readonly string[]
}

export function buildModel(data: ClusterData, settings: Settings = {}): ClusterModel {
  const { suffix, nodeAliases, instanceAliases } = aliases(data)
  const instances = data.instances.map((one, at) => instanceFacts(one, data, settings, instanceAliases[at] ?? one.name))
  applySelection(instances, settings)
  const offline = new Set(findNames(data.nodes, settings.offline ?? [], 'wrong node name(s) set as offline: '))
  const used = data.nodes.map(() => 0)
  for (const { data: one } of instances) {
    if (usesMemory(one)) used[one.primary] = (used[one.primary] ?? 0) + one.memory
  }
  const nodes = data.nodes.map((one, at) =>
    nodeFacts(one, data, settings, {
      alias: nodeAliases[at] ?? one.name,
      used: used[at] ?? 0,
      offline: one.offline || offline.has(at),
    }),
  )
  const model: ClusterModel = {
    settings,
    data,
    nodes,
    instances,
    version: 0,
    rows: new Float64Array(nodes.length * Col.Width),
    primary: Int32Array.from(data.instances, (one) => one.primary),
    secondary: Int32Array.from(data.instances, (one) => one.secondary),
    peers: nodes.map(() => new Map<number, number>()),
    served: nodes.map(() => new Set<number>()),
    tagCounts: nodes.map(() => new Map<string, number>()),
    suffix,
    warnings: missingResources(data, nodes),
  }
  fillRows(model)
  return model
}

/** Failure domains that two nodes share. */
export function sharedLocations(one: NodeFacts | undefined, other: NodeFacts | undefined): number {
  if (one === undefined || other === undefined || one.locations.size === 0) return 0
  return [...one.locations].filter((tag) => other.locations.has(tag)).length
}

/** Wanted locations of the instance's primary in which this node is not. */
export function missedLocations(instance: InstanceFacts, node: NodeFacts): number {
  if (instance.desired.length === 0) return 0
  return instance.desired.filter((tag) => !node.locations.has(tag)).length
}

export const freeMemory = (model: ClusterModel, node: number): number =>
  (model.nodes[node]?.usable ?? 0) - (model.rows[node * Col.Width + Col.InstanceMemory] ?? 0)

interface Placed {
  readonly alias: string
  readonly used: number
  readonly offline: boolean
}

function nodeFacts(
  data: NodeData,
  cluster: ClusterData,
  settings: Settings,
  { alias, used, offline }: Placed,
): NodeFacts {
  const policy = cluster.groups[data.group]?.policy ?? cluster.policy
  const recorded = Math.trunc(data.totalMemory) - data.nodeMemory
  const unaccounted = recorded - used - data.freeMemory
  const { own, receives } = migrationTags(cluster.tags, data.tags)
  return {
    data,
    alias,
    offline,
    usable: memoryForInstances(Math.trunc(data.totalMemory), data.nodeMemory, data.freeMemory, used),
    unaccounted,
    lowDisk: Math.floor((settings.minDisk ?? 0) * data.totalDisk),
    vcpuRatio: settings.maxCpu ?? policy.vcpuRatio,
    highSpindles: policy.spindleRatio * data.spindles,
    migration: own,
    receives,
    locations: locationTags(cluster.tags, data.tags),
  }
}

export function instanceFacts(
  data: InstanceData,
  cluster: ClusterData,
  settings: Settings,
  alias: string,
): InstanceFacts {
  const prefixes = [...(settings.exclusionTags ?? []).map((tag) => `${tag}:`), ...prefixesOf(cluster.tags, 'exclusion')]
  const online = !isOffline(data.status)
  const onLvm = isOnLvm(data.template)
  const local = data.local ?? onLvm
  const base = settings.ignoreUtilisation ? [0, 0, 0, 0] : [1, 1, 1, 1]
  const group = (node: number) => cluster.nodes[node]?.group
  const split = data.secondary !== NO_NODE && group(data.primary) !== group(data.secondary)
  return {
    data,
    alias,
    movable: (isMirroredInside(data.template) || isShared(data.template)) && !split,
    online,
    usesMemory: usesMemory(data),
    reserve: online && data.autoBalance ? data.memory : 0,
    local,
    spindleUse: local && onLvm ? data.spindleUse : 0,
    util: (settings.ignoreUtilisation ? undefined : settings.utilisation?.get(data.name)) ?? base,
    exclusion: withPrefix(data.tags, prefixes),
    desired: [...new Set(withPrefix(data.tags, prefixesOf(cluster.tags, 'desired')))],
  }
}

function applySelection(instances: InstanceFacts[], { selected = [], excluded = [] }: Settings): void {
  if (selected.length + excluded.length === 0) return
  const records = instances.map(({ data }) => data)
  const found = (names: readonly string[]) => {
    try {
      return new Set(findNames(records, names, ''))
    } catch (error) {
      const unknown = error instanceof Error ? error.message.split(', ') : []
      throw new BadClusterData(`Unknown instance(s): ${JSON.stringify(unknown)}`)
    }
  }
  const [included, excludedAt] = [found(selected), found(excluded)]
  instances.forEach((one, at) => {
    if (excludedAt.has(at) || (included.size > 0 && !included.has(at))) instances[at] = { ...one, movable: false }
  })
}

function fillRows(model: ClusterModel): void {
  const { nodes, rows } = model
  nodes.forEach(({ data }, at) => {
    const row = at * Col.Width
    rows[row + Col.FreeMemoryAll] = data.freeMemory
    rows[row + Col.FreeDisk] = rows[row + Col.FreeDiskAll] = data.freeDisk
    rows[row + Col.Vcpus] = rows[row + Col.VcpusAll] = data.nodeCpus
    rows[row + Col.FreeSpindles] = rows[row + Col.FreeSpindlesAll] = data.freeSpindles
  })
  model.instances.forEach((one) => {
    place(model, one, one.data.primary, true)
    if (one.data.secondary !== NO_NODE) place(model, one, one.data.secondary, false)
  })
  nodes.forEach(({ data }, at) => {
    const row = at * Col.Width
    const load = model.settings.nodeLoads?.get(data.name)
    if (load !== undefined) rows[row + Col.LoadCpu] = load
    rows[row + Col.Reserved] = Math.max(0, ...(model.peers[at]?.values() ?? []))
    // Exactly enough memory suffices until the node is touched, as in Debian's programs. After a move it must be more.
    rows[row + Col.FailsN1] = freeMemory(model, at) < (rows[row + Col.Reserved] ?? 0) ? 1 : 0
  })
}

/** Nodes' reports already include existing instances, so this only fills columns that count them. */
function place(model: ClusterModel, instance: InstanceFacts, at: number, primary: boolean): void {
  const { rows } = model
  const node = model.nodes[at]
  if (node === undefined) return
  const { data } = instance
  const add = (col: Col, value: number) => void (rows[at * Col.Width + col] = (rows[at * Col.Width + col] ?? 0) + value)
  const spindles = node.data.exclusiveStorage ? 0 : instance.spindleUse
  add(Col.UsedSpindlesAll, spindles)
  if (data.forthcoming) {
    if (instance.local) add(Col.FreeDiskAll, -data.disk)
    if (node.data.exclusiveStorage) add(Col.FreeSpindlesAll, -(data.spindles ?? 0))
  } else {
    add(Col.UsedSpindles, spindles)
    add(Col.LoadDisk, instance.util[2] ?? 0)
    add(primary ? Col.Primaries : Col.Secondaries, 1)
  }
  if (primary) placePrimary(model, instance, node, at, add)
  else if (!data.forthcoming) {
    const peers = model.peers[at]
    peers?.set(data.primary, (peers.get(data.primary) ?? 0) + instance.reserve)
    model.served[data.primary]?.add(at)
  }
}

function placePrimary(
  model: ClusterModel,
  instance: InstanceFacts,
  node: NodeFacts,
  at: number,
  add: (col: Col, value: number) => void,
): void {
  const { data } = instance
  const vcpus = instance.online ? data.vcpus : 0
  add(Col.VcpusAll, vcpus)
  if (!instance.usesMemory) add(Col.FreeMemoryAll, -data.memory)
  const counts = model.tagCounts[at]
  for (const tag of instance.exclusion) {
    const count = counts?.get(tag) ?? 0
    if (count > 0) add(Col.TagClashes, 1)
    counts?.set(tag, count + 1)
  }
  if (data.forthcoming) return
  if (instance.usesMemory) add(Col.InstanceMemory, data.memory)
  add(Col.Vcpus, vcpus)
  add(Col.LoadCpu, instance.util[0] ?? 0)
  add(Col.LoadMemory, instance.util[1] ?? 0)
  add(Col.LoadNet, instance.util[3] ?? 0)
  add(Col.Location, sharedLocations(node, model.nodes[data.secondary]) + missedLocations(instance, node))
}

function missingResources(data: ClusterData, nodes: readonly NodeFacts[]): string[] {
  const disk = data.nodes.map(() => 0)
  for (const one of data.instances) {
    if (one.forthcoming) continue
    disk[one.primary] = (disk[one.primary] ?? 0) + one.disk
    if (one.secondary !== NO_NODE) disk[one.secondary] = (disk[one.secondary] ?? 0) + one.disk
  }
  return nodes
    .flatMap(({ data: node, unaccounted }, at) => {
      const lost = Math.trunc(node.totalDisk) - node.freeDisk - (disk[at] ?? 0)
      if (unaccounted <= 512 && lost <= 1024) return []
      return [`node ${node.name} is missing ${unaccounted} MB ram and ${Math.floor(lost / 1024)} GB disk`]
    })
    .reverse()
}
