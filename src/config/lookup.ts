// Questions that a snapshot answers by itself: names, owners, locations.
import type { ConfigData, Disk, DrbdId, Instance, Network, Node, NodeGroup, NodeUuid, Container } from '../model/config'
import { nodeUuid } from '../model/ids'
import type { LockName } from '../model/lock'
import { type Dictionary, type Index, keyByName, recordFind, recordFindPrefix, recordGet, recordHas } from './records'
import { compareText } from '../model/nice-sort'
import { type DiskTemplate, NO_DISKS, diskIdOf, isDrbd } from '../model/templates'

interface Named {
  readonly name: string
}

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

const byLowerName: Index<Named> = { textsOf: ({ name }) => [name.toLowerCase()] }

function expand<T extends Named>(container: Container<T>, name: string): T | undefined {
  const exact = byName(container, name)
  if (exact !== undefined || name === '') return exact
  const desired = name.toLowerCase()
  // A name that only differs in case wins over a longer name.
  const [same, another] = recordFind(container, byLowerName, desired)
  if (same !== undefined) return another === undefined ? same : undefined
  const [longer, other] = recordFindPrefix(container, byLowerName, `${desired}.`)
  return other === undefined ? longer : undefined
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

const byGroup: Index<Node> = { textsOf: ({ group }) => [group] }
const byAddress: Index<Node> = { textsOf: ({ primary_ip }) => [primary_ip] }
const byCandidacy: Index<Node> = { textsOf: ({ master_candidate }) => [String(master_candidate)] }

export const nodesOfGroup = (config: ConfigData, group: string): Node[] => recordFind(config.nodes, byGroup, group)

export const nodeAtAddress = ({ nodes }: Pick<ConfigData, 'nodes'>, primaryIp: string): Node | undefined =>
  recordFind(nodes, byAddress, primaryIp)[0]

/** The master counts as a candidate, whatever its flag says. */
export function masterCandidates(config: ConfigData): Node[] {
  const flagged = recordFind(config.nodes, byCandidacy, 'true')
  const master = masterNode(config)
  if (master === undefined || master.master_candidate) return flagged
  return [...flagged, master].sort((a, b) => compareText(a.uuid, b.uuid))
}

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

const byPrimary: Index<Instance> = { textsOf: ({ primary_node }) => [primary_node] }
const byDisk: Index<Instance> = { textsOf: ({ disks }) => disks }
const byNetwork: Index<Instance> = { textsOf: ({ nics }) => nics.flatMap(({ network }) => network ?? []) }
const byMac: Index<Instance> = { textsOf: ({ nics }) => nics.map(({ mac }) => mac.toLowerCase()) }
const byNode: Index<Disk> = { textsOf: diskNodes }

export const primaryInstances = (config: ConfigData, node: string): Instance[] =>
  recordFind(config.instances, byPrimary, node)

export function secondaryInstances(config: ConfigData, node: string): Instance[] {
  const users = new Set(disksOnNode(config, node).flatMap(({ uuid }) => instancesOfDisk(config, uuid)))
  return [...users].filter(({ primary_node }) => primary_node !== node).sort((a, b) => compareText(a.uuid, b.uuid))
}

export const instancesOfNetwork = (config: ConfigData, network: string): Instance[] =>
  recordFind(config.instances, byNetwork, network)

/** `mac` is in small letters. */
export const instancesWithMac = (config: ConfigData, mac: string): Instance[] =>
  recordFind(config.instances, byMac, mac)

/** The disks with data there, attached or not. */
export const disksOnNode = (config: ConfigData, node: string): Disk[] => recordFind(config.disks, byNode, node)

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

/** Its id without a mirror's secret: more people may read jobs and messages than may know that. */
export const shownId = (disk: Disk): readonly (string | number | null)[] =>
  drbdId(disk) === undefined ? disk.logical_id : [...disk.logical_id.slice(0, -1), null]

/** Where its data is, for messages: the volumes, the file, or the name in its storage. */
export function shownPlace(disk: Disk): string {
  if (diskIdOf(disk.dev_type) === 'volume') return disk.logical_id.join('/')
  if (drbdId(disk) === undefined) return String(disk.logical_id.at(-1))
  return disk.children.length === 0 ? `port ${disk.logical_id[2]}` : disk.children.map(shownPlace).join(', ')
}

/** `[vg, lv]` of every logical volume of a disk. */
export function logicalVolumes(disk: Disk): [vg: string, lv: string][] {
  const own: [string, string][] =
    diskIdOf(disk.dev_type) === 'volume' ? [[String(disk.logical_id[0]), String(disk.logical_id[1])]] : []
  return [...own, ...disk.children.flatMap(logicalVolumes)]
}

const byVolume: Index<Disk> = { textsOf: (disk) => logicalVolumes(disk).map((name) => name.join('/')) }
const bySecret: Index<Disk> = { textsOf: (disk) => [drbdId(disk)?.secret ?? []].flat() }
const byDrbdPort: Index<Disk> = { textsOf: (disk) => [drbdId(disk)?.port ?? []].flat().map(String) }
const byTitle: Index<Disk> = { textsOf: ({ name }) => [name ?? []].flat() }
const byPort: Index<Instance> = { textsOf: ({ network_port }) => [network_port ?? []].flat().map(String) }

/** `volume` is VG/LV. */
export const isVolumeUsed = ({ disks }: ConfigData, volume: string): boolean => recordHas(disks, byVolume, volume)

export const isSecretUsed = ({ disks }: ConfigData, secret: string): boolean => recordHas(disks, bySecret, secret)

export const isPortUsed = ({ instances, disks }: ConfigData, port: number): boolean =>
  recordHas(instances, byPort, String(port)) || recordHas(disks, byDrbdPort, String(port))

/** By uuid or name. */
export function findDisks({ disks }: ConfigData, name: string): Disk[] {
  const same = recordGet(disks, name)
  return [...new Set([...(same ? [same] : []), ...recordFind(disks, byTitle, name)])]
}

/** The instance to which a disk is attached. */
export const instanceOfDisk = (config: ConfigData, disk: string): Instance | undefined =>
  instancesOfDisk(config, disk)[0]

export const instancesOfDisk = (config: ConfigData, disk: string): Instance[] =>
  recordFind(config.instances, byDisk, disk)

/** The name of the certificate that a node is going to show, in the list of those that nodes obey. */
export const waitingCertificate = (node: NodeUuid): string => `${node}-new`
