// The memory of simulated nodes: which instances run where, and which disks exist. `encode` and `World.restore` write
// and read the small file for restarts.
import { drbdId, instanceDisks, secondaryNodes } from '../../config/lookup'
import type { Clock } from '../../lib/clock'
import type { ConfigData, Disk } from '../../model/config'
import { isReserved } from '../../model/instance'
import { isObject } from '../../lib/shapes/shape'
import type { DiskDict, InstanceDict } from '../../rpc/node/dicts'
import { diskIdOf, isDrbd, isMirroredOutside } from '../../model/templates'

export interface SimInstance {
  readonly hypervisor: string
  memory: number
  readonly vcpus: number
}

export interface SimDisk {
  size: number
  readonly dev_type: string
  readonly logical_id: readonly (string | number | null)[]
}

export interface SimNode {
  readonly instances: Map<string, SimInstance>
  /** Volumes by group and name, others by uuid. */
  readonly disks: Map<string, SimDisk>
  /** Minors of existing DRBD devices. */
  readonly minors: Set<number>
  /** Each export's description, by the export's name. */
  readonly exports: Map<string, string>
}

export class World {
  private readonly nodes = new Map<string, SimNode>()
  private readonly sharedDisks = new Map<string, SimDisk>()

  constructor(readonly config: ConfigData) {}

  /** The world according to the configuration. */
  static fromConfig(config: ConfigData): World {
    const world = new World(config)
    for (const instance of Object.values(config.instances)) {
      const primary = config.nodes[instance.primary_node]
      if (primary === undefined || isReserved(instance)) continue
      const { maxmem, vcpus } = { ...config.cluster.beparams.default, ...instance.beparams }
      if (instance.admin_state === 'up' && !primary.offline)
        world
          .node(primary.name)
          .instances.set(instance.name, { hypervisor: instance.hypervisor, memory: maxmem, vcpus })
      const holders = [primary, ...secondaryNodes(config, instance).flatMap((uuid) => config.nodes[uuid] ?? [])]
      for (const disk of instanceDisks(config, instance)) {
        for (const holder of holders) world.addDisk(holder.name, disk, disk.size)
        const id = drbdId(disk)
        if (id === undefined || !instance.disks_active) continue
        for (const { uuid, name } of holders) world.node(name).minors.add(uuid === id.nodeA ? id.minorA : id.minorB)
      }
    }
    return world
  }

  static restore(config: ConfigData, text: string): World {
    const world = new World(config)
    const saved = JSON.parse(text) as ReturnType<World['snapshot']>
    if (!isObject(saved.nodes)) throw new Error('the saved state of the simulator is damaged')
    for (const [name, { instances, disks, exports, minors }] of Object.entries(saved.nodes))
      world.nodes.set(name, {
        ...{ instances: new Map(instances), disks: new Map(disks) },
        ...{ exports: new Map(exports), minors: new Set(minors) },
      })
    for (const [uuid, disk] of saved.shared) world.sharedDisks.set(uuid, disk)
    return world
  }

  encode(): string {
    return JSON.stringify(this.snapshot())
  }

  node(name: string): SimNode {
    const known = this.nodes.get(name)
    if (known !== undefined) return known
    const fresh: SimNode = { instances: new Map(), disks: new Map(), exports: new Map(), minors: new Set() }
    this.nodes.set(name, fresh)
    return fresh
  }

  disk(node: string, disk: DiskDict): SimDisk | undefined {
    // Block devices are not created: every requested one exists.
    if (diskIdOf(disk.dev_type) === 'device') return { ...disk, logical_id: disk.logical_id ?? [] }
    if (!isDrbd(disk.dev_type)) return this.disksOf(node, disk.dev_type).get(keyOf(disk))
    // A node has its side of a mirror while it has both its volumes.
    const [data, meta] = (disk.children ?? []).map((child) => this.disk(node, child))
    return meta === undefined ? undefined : data
  }

  renameDisk(node: string, disk: DiskDict, logical_id: SimDisk['logical_id']): void {
    const disks = this.disksOf(node, disk.dev_type)
    const found = disks.get(keyOf(disk))
    if (found === undefined) return
    disks.delete(keyOf(disk))
    disks.set(keyOf({ ...disk, logical_id }), { ...found, logical_id })
  }

  addDisk(node: string, disk: DiskDict | Disk, size: number): void {
    const { dev_type, logical_id = [], children = [] } = disk
    if (!isDrbd(dev_type)) this.disksOf(node, dev_type).set(keyOf(disk), { size, dev_type, logical_id })
    for (const child of children) this.addDisk(node, child, child.size)
  }

  removeDisk(node: string, disk: DiskDict): void {
    const disks = this.disksOf(node, disk.dev_type)
    // The snapshot of a file has its disk's UUID.
    if (disks.get(keyOf(disk))?.logical_id[1] === disk.logical_id?.[1]) disks.delete(keyOf(disk))
    for (const child of disk.children ?? []) this.removeDisk(node, child)
  }

  run(node: string, instance: InstanceDict): void {
    const { hypervisor, beparams } = instance
    const runtime = { hypervisor, memory: beparams.maxmem, vcpus: beparams.vcpus }
    this.node(node).instances.set(instance.name, runtime)
  }

  /** Paths and sizes in bytes of the disk files below a directory, as the node sees them. */
  filesBelow(node: string, directory: string): [path: string, size_bytes: number][] {
    const all = [...this.node(node).disks.values(), ...this.sharedDisks.values()]
    return all.flatMap(({ logical_id: [, path], size }): [string, number][] =>
      typeof path === 'string' && path.startsWith(`${directory}/`) ? [[path, size * 1024 * 1024]] : [],
    )
  }

  /** A file, or a folder with all its files. */
  renameFile(node: string, from: string, to: string): void {
    for (const { disks, key, disk, path } of this.below(node, from)) {
      const [driver = null] = disk.logical_id
      disks.set(key, { ...disk, logical_id: [driver, `${to}${path.slice(from.length)}`] })
    }
  }

  removeFile(node: string, file: string): void {
    for (const { disks, key } of this.below(node, file)) disks.delete(key)
  }

  private below(node: string, place: string) {
    return [this.node(node).disks, this.sharedDisks].flatMap((disks) =>
      [...disks].flatMap(([key, disk]) => {
        const [, path] = disk.logical_id
        return typeof path === 'string' && (path === place || path.startsWith(`${place}/`))
          ? [{ disks, key, disk, path }]
          : []
      }),
    )
  }

  private disksOf(node: string, template: string): Map<string, SimDisk> {
    return isMirroredOutside(template) ? this.sharedDisks : this.node(node).disks
  }

  private snapshot() {
    const nodes: Record<string, SavedNode> = {}
    for (const [name, { instances, disks, exports, minors }] of this.nodes)
      nodes[name] = { instances: [...instances], disks: [...disks], exports: [...exports], minors: [...minors] }
    return { nodes, shared: [...this.sharedDisks] }
  }
}

/** A volume is identified by its name, whatever disk it belongs to. */
const keyOf = ({ uuid, dev_type, logical_id = [] }: Pick<DiskDict, 'uuid' | 'dev_type' | 'logical_id'>): string =>
  diskIdOf(dev_type) === 'volume' ? logical_id.join('/') : uuid

interface SavedNode {
  readonly instances: [string, SimInstance][]
  readonly disks: [string, SimDisk][]
  /** Missing in files of older versions. */
  readonly exports?: [string, string][]
  readonly minors?: number[]
}

export const nodeOf = ({ world, node }: SimContext): SimNode => world.node(node)

/** One call to one node. */
export interface SimContext {
  readonly world: World
  /** The node of the call. */
  readonly node: string
  readonly clock: Clock
}

/** The digest of a candidate's client certificate. */
export function certificateOf({ world: { config }, node }: SimContext): string {
  const uuid = Object.values(config.nodes).find(({ name }) => name === node)?.uuid
  return (uuid === undefined ? undefined : config.cluster.candidate_certs[uuid]) ?? ''
}
