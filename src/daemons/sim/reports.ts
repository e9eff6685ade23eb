// The reports of a simulated node's monitoring daemon: the simulator's own data, and nothing about this machine.
import { nanoseconds } from '../../lib/clock'
import { hypervisorInfo, storageInfo, volumeGroup } from './capacity'
import type { SimContext } from './world'
import { ALLOCATION_TEMPLATES, isOnLvm } from '../../model/templates'

const MIB = 1 << 20

/** The answer to `/1/report/all`. */
export function reportsOf(sim: SimContext): readonly object[] {
  const { clock, world, node } = sim
  const running = [...world.node(node).instances.values()]
  const { memory_total, memory_free, cpu_total, ...hypervisor } = hypervisorInfo(sim)
  const vcpus = running.reduce((sum, one) => sum + one.vcpus, 0)
  const used_mib = running.reduce((sum, { memory }) => sum + memory, 0)
  const report = (name: string, category: string | null, kind: 0 | 1, data: unknown) => {
    return { name, version: 'B', format_version: 1, timestamp: nanoseconds(clock), category, kind, data }
  }
  // All simulated processors are equally busy.
  const load = Math.min(cpu_total, vcpus / 10)
  return [
    report('cpu-avg-load', null, 0, {
      ...{ cpu_number: cpu_total, cpus: Array<number>(cpu_total).fill(load / cpu_total), cpu_total: load },
    }),
    report('storage', 'storage', 1, storageData(sim)),
    report('hypervisors', 'hypervisor', 0, {
      hypervisors: [...new Set(running.map((one) => one.hypervisor))].map((name) => ({
        ...{ name, error: null, instances: running.length, instances_memory_mib: used_mib, instances_vcpus: vcpus },
        resources: {
          ...{ memory_total_mib: memory_total, memory_free_mib: memory_free, memory_node_mib: hypervisor.memory_dom0 },
          ...{ cpus: cpu_total, cpu_sockets: hypervisor.cpu_sockets, cpu_nodes: hypervisor.cpu_nodes },
          cpus_node: hypervisor.cpu_dom0,
        },
        details: {},
      })),
      interfaces: [],
    }),
    report('system', 'node', 0, {
      uptime_s: clock.monotonic_ms() / 1000,
      cpus: {
        number: cpu_total,
        online: `0-${cpu_total - 1}`,
        offline: '',
        model: 'simulated',
        load: [load, load, load],
      },
      memory: { total: memory_total * MIB, free: memory_free * MIB, available: memory_free * MIB },
      ...{ filesystems: [], interfaces: [], kernel: { release: 'simulated', version: '' }, versions: {}, pressure: {} },
    }),
  ]
}

function storageData(sim: SimContext): object {
  const { storage_size, storage_free } = storageInfo(sim, ['lvm-vg', volumeGroup(sim), []])
  const status = { code: 0, message: '' }
  const room = {
    ...{ size_bytes: storage_size * MIB, free_bytes: storage_free * MIB },
    used_bytes: (storage_size - storage_free) * MIB,
  }
  const templates = ALLOCATION_TEMPLATES.filter(isOnLvm)
  const unit = { type: 'lvm-vg', name: volumeGroup(sim), templates, ...room, status, details: {} }
  return { status, storages: [unit] }
}
