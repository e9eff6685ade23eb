// Questions that a snapshot answers by itself: names, owners, locations.
import type { ConfigData, Disk, DrbdId, Instance, Network, Node, NodeGroup, NodeUuid, Container } from '../model/config'
import { nodeUuid } from '../model/ids'
import type { LockName } from '../model/lock'
import { type Dictionary, keyByName, recordGet, recordValues } from './records'
import { type DiskTemplate, NO_DISKS, diskIdOf, isDrbd } from '../model/templates'

interface Named {
  readonly name: string
}

export const instanceByName = (config: ConfigData, name: string): Instance | undefined => byName(config.instances, name)
export const groupByName = (config: ConfigData, name: string): NodeGroup | undefined => byName(config.nodegroups, name)

/** Finds by uuid, full name, or a short name that fits only one object: `web1` for `web1.example.com`. */
export const findInstance = (config: ConfigData, name: string): Instance | undefined => find(config.instances, name)
export const findNode = (config: ConfigData, name: string): Node | undefined => find(config.nodes, name)
/** Groups and networks have no short names. */
export const findGroup = (config: ConfigData, name: string): NodeGroup | undefined =>
  recordGet(config.nodegroups, name) ?? byName(config.nodegroups, name)
export const findNetwork = (config: ConfigData, name: string): Network | undefined =>
  recordGet(config.networks, name) ?? byName(config.networks, name)

/** The full name, or undefined if no name or several names fit. */
export const expandInstanceName = (config: ConfigData, name: string): string | undefined =>
  expand(config.instances, name)?.name
export const expandNodeName = (config: ConfigData, name: string): string | undefined => expand(config.nodes, name)?.name

function find<T extends Named>(container: Container<T>, name: string): T | undefined {
  return recordGet(container, name) ?? expand(container, name)
}

function byName<T>(container: Container<T>, name: string): T | undefined {
  const key = keyByName(container, name)
  return key === undefined ? undefined : container[key]
}

function expand<T extends Named>(container: Container<T>, name: string): T | undefined {
  const exact = byName(container, name)
  if (exact !== undefined || name === '') return exact
  const wanted = name.toLowerCase()
  const candidates = recordValues(container).filter((object) => {
    const full = object.name.toLowerCase()
    return full === wanted || full.startsWith(`${wanted}.`)
  })
  // A name that only differs in case wins over a longer name.
  const same = candidates.filter((object) => object.name.toLowerCase() === wanted)
  if (same.length === 1) return same[0]
  return candidates.length === 1 ? candidates[0] : undefined
}

/** A lock's name for people. Names on the wire contain uuids if objects can be renamed. */
export function lockTitle(config: ConfigData, lock: LockName): string {
  const slash = lock.indexOf('/')
  const [level, key] = [lock.slice(0, slash), lock.slice(slash + 1)]
  const objects: Readonly<Record<string, Dictionary<Named>>> = {
    node: config.nodes,
    'node-res': config.nodes,
    nodegroup: config.nodegroups,
    network: config.networks,
  }
  return `${level}/${objects[level]?.[key]?.name ?? key}`
}

export const masterNode = (config: ConfigData): Node | undefined => config.nodes[config.cluster.master_node]

export const nodesOfGroup = (config: ConfigData, group: string): Node[] =>
  recordValues(config.nodes).filter((node) => node.group === group)

/** The master counts as a candidate, whatever its flag says. */
export const masterCandidates = (config: ConfigData): Node[] =>
  recordValues(config.nodes).filter((node) => node.master_candidate || node.uuid === config.cluster.master_node)

/** The instance's disks in order. Skips a missing one: verify reports it. */
export const instanceDisks = (config: ConfigData, instance: Instance): Disk[] =>
  instance.disks.flatMap((uuid) => config.disks[uuid] ?? [])

/** `diskless`, the common template of all disks, or `mixed`. */
export function diskTemplateOf(config: ConfigData, instance: Instance): DiskTemplate | 'mixed' {
  const templates = new Set(instanceDisks(config, instance).map((disk) => disk.dev_type))
  const [first] = templates
  if (first === undefined) return NO_DISKS
  return templates.size === 1 ? first : 'mixed'
}

/** All nodes with a part of the disk's data. */
export function diskNodes(disk: Disk): NodeUuid[] {
  const drbd = drbdId(disk)
  // After a change of the secondary node, its volumes still name the former one.
  if (drbd) return [...new Set([drbd.nodeA, drbd.nodeB])]
  return [...new Set([...disk.nodes, ...disk.children.flatMap(diskNodes)])]
}

/** Nodes besides the primary that have the instance's disks. */
export function secondaryNodes(config: ConfigData, instance: Instance): NodeUuid[] {
  const nodes = new Set(instanceDisks(config, instance).flatMap(diskNodes))
  return [...nodes].filter((uuid) => uuid !== instance.primary_node)
}

/** The primary first. */
export const instanceNodes = (config: ConfigData, instance: Instance): NodeUuid[] => [
  instance.primary_node,
  ...secondaryNodes(config, instance),
]

export const primaryInstances = (config: ConfigData, node: string): Instance[] =>
  recordValues(config.instances).filter((instance) => instance.primary_node === node)

export const secondaryInstances = (config: ConfigData, node: string): Instance[] =>
  recordValues(config.instances).filter((instance) => secondaryNodes(config, instance).some((uuid) => uuid === node))

/** The parts of a DRBD disk's identity; undefined for any other disk. */
export function drbdId(disk: Disk): DrbdId | undefined {
  if (!isDrbd(disk.dev_type)) return undefined
  const [nodeA, nodeB, port, minorA, minorB, secret] = disk.logical_id
  return {
    nodeA: nodeUuid(String(nodeA)),
    nodeB: nodeUuid(String(nodeB)),
    port: Number(port),
    minorA: Number(minorA),
    minorB: Number(minorB),
    secret: String(secret),
  }
}

/** `[vg, lv]` of every logical volume of a disk. */
export function logicalVolumes(disk: Disk): [vg: string, lv: string][] {
  const own: [string, string][] =
    diskIdOf(disk.dev_type) === 'volume' ? [[String(disk.logical_id[0]), String(disk.logical_id[1])]] : []
  return [...own, ...disk.children.flatMap(logicalVolumes)]
}

/** The instance to which a disk is attached. */
export const instanceOfDisk = (config: ConfigData, disk: string): Instance | undefined =>
  recordValues(config.instances).find((instance) => instance.disks.some((uuid) => uuid === disk))
