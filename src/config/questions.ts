// What people and programs ask about a configuration: who an object is, where an instance runs, which addresses nodes have. LUXI and the
// remote API ask through the fields of queries, and confd through its datagrams, each of its own snapshot. They only put answers into
// their formats.
import type { ConfigData, Disk, Instance, Node, NodeUuid } from '../model/config'
import type { NODE_ROLE } from '../model/constants/words'
import { compareText } from '../model/nice-sort'
import { fillNicParams } from './filled'
import { drbdId, instanceDisks, masterNode, primaryInstances, secondaryInstances, secondaryNodes } from './lookup'
import { byName, keyByName, recordFindPrefix, recordGet, recordValues, type Dictionary } from './records'

export type RoleName = keyof typeof NODE_ROLE

/** One side of a mirrored disk. */
export interface Minor {
  readonly minor: number
  readonly instance: Instance
  /** The number of the disk in the instance. */
  readonly disk: number
  readonly peer: NodeUuid
}

export class ConfigQuestions {
  private links: ReadonlyMap<string, ReadonlyMap<string, Instance>> | undefined

  constructor(readonly config: ConfigData) {}

  /** By uuid, name, or the first parts of names. Several nodes only if none has exactly this name. Unlike commands, it is case-sensitive. */
  nodesNamed(name: string): readonly Node[] {
    return named(this.config.nodes, name)
  }

  instancesNamed(name: string): readonly Instance[] {
    return named(this.config.instances, name)
  }

  master(): Node | undefined {
    return masterNode(this.config)
  }

  roleOf(node: Node): RoleName {
    if (this.config.cluster.master_node === node.uuid) return 'master'
    if (node.drained) return 'drained'
    if (node.offline) return 'offline'
    return node.master_candidate ? 'candidate' : 'regular'
  }

  nodeName(uuid: string): string {
    return this.config.nodes[uuid]?.name ?? uuid
  }

  /** By uuid. */
  nodes(): readonly Node[] {
    return recordValues(this.config.nodes)
  }

  /** Those with the flag, by uuid. */
  candidates(): readonly Node[] {
    return this.nodes().filter((node) => node.master_candidate)
  }

  primaryOf({ primary_node }: Instance): Node | undefined {
    return this.config.nodes[primary_node]
  }

  /** Nodes besides the primary that have its disks. */
  secondariesOf(instance: Instance): readonly NodeUuid[] {
    return secondaryNodes(this.config, instance)
  }

  /** The instances whose primary node it is, and those of which it has other copies of disks. */
  instancesOn(node: string): { readonly primary: readonly Instance[]; readonly secondary: readonly Instance[] } {
    return { primary: primaryInstances(this.config, node), secondary: secondaryInstances(this.config, node) }
  }

  disksOf(instance: Instance): readonly Disk[] {
    return instanceDisks(this.config, instance)
  }

  minorsOn(node: Node): Minor[] {
    return recordValues(this.config.instances).flatMap((instance) =>
      instance.disks.flatMap((uuid, disk) =>
        sidesOf(this.config.disks[uuid], node).map((side) => ({ ...side, instance, disk })),
      ),
    )
  }

  /** The link of network cards that name none. */
  get defaultLink(): string {
    return this.config.cluster.nicparams.default.link
  }

  instanceAt(link: string, ip: string): Instance | undefined {
    return this.byLink().get(link)?.get(ip)
  }

  instanceAddresses(link: string): string[] {
    return [...(this.byLink().get(link)?.keys() ?? [])].sort(compareText)
  }

  private byLink(): ReadonlyMap<string, ReadonlyMap<string, Instance>> {
    return (this.links ??= linksOf(this.config))
  }
}

/** Two at most: more say nothing more. */
function named<T extends { readonly name: string }>(objects: Dictionary<T>, name: string): readonly T[] {
  const same = recordGet(objects, name) ?? recordGet(objects, keyByName(objects, name) ?? '')
  if (same !== undefined) return [same]
  const [first, another] = recordFindPrefix(objects, byName, `${name}.`)
  return [first, another].filter((one) => one !== undefined)
}

/** If two instances have the same address on one link, the later one counts. */
function linksOf({ cluster, instances }: ConfigData): Map<string, Map<string, Instance>> {
  const links = new Map<string, Map<string, Instance>>()
  for (const instance of recordValues(instances))
    for (const nic of instance.nics) {
      if (nic.ip === undefined) continue
      const { link } = fillNicParams(cluster, nic)
      const same = links.get(link) ?? new Map<string, Instance>()
      links.set(link, same.set(nic.ip, instance))
    }
  return links
}

function sidesOf(disk: Disk | undefined, node: Node): Pick<Minor, 'minor' | 'peer'>[] {
  if (disk === undefined) return []
  const { nodeA, nodeB, minorA, minorB } = drbdId(disk) ?? {}
  const below = disk.children.flatMap((child) => sidesOf(child, node))
  if (minorA !== undefined && nodeB !== undefined && nodeA === node.uuid)
    return [{ minor: minorA, peer: nodeB }, ...below]
  if (minorB !== undefined && nodeA !== undefined && nodeB === node.uuid)
    return [{ minor: minorB, peer: nodeA }, ...below]
  return below
}
