// The size of simulated nodes. The configuration does not tell it, so all are alike, and big enough for their contents.
import type { HypervisorInfo, StorageUnit } from '../../rpc/node/dicts'
import type { SimContext } from './world'
import { diskIdOf } from '../../model/templates'

const MEMORY_MIB = 65536
const DOM0_MIB = 1024
const STORAGE_MIB = 1 << 20
const CPUS = 32

export function hypervisorInfo({ world, node }: SimContext): HypervisorInfo {
  const used = sum([...world.node(node).instances.values()].map(({ memory }) => memory))
  const memory_total = Math.max(MEMORY_MIB, 2 * used) + DOM0_MIB
  return {
    memory_total,
    memory_free: memory_total - DOM0_MIB - used,
    memory_dom0: DOM0_MIB,
    cpu_total: CPUS,
    cpu_nodes: 1,
    cpu_sockets: 1,
    cpu_dom0: 1,
  }
}

/** One pool of storage for every kind of request. */
export function storageInfo({ world, node }: SimContext, [type, name]: StorageUnit) {
  const used = sum([...world.node(node).disks.values()].map(({ size }) => size))
  const storage_size = Math.max(STORAGE_MIB, 2 * used)
  return { type, name, storage_free: storage_size - used, storage_size }
}

export const volumeGroup = ({ world }: SimContext): string => world.config.cluster.volume_group_name ?? 'xenvg'

/** `vg/lv` with lv_list's facts, for the logical volumes of plain and DRBD disks. */
export function logicalVolumes({
  world,
  node,
}: SimContext): [string, [size: string, inactive: boolean, online: boolean]][] {
  const plain = [...world.node(node).disks.values()].filter(({ dev_type }) => diskIdOf(dev_type) === 'volume')
  return plain.map(({ logical_id, size }) => [logical_id.join('/'), [`${size}.00`, false, true]])
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
