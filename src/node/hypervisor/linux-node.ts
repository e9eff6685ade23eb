// Facts that every Linux node can tell about itself, with any hypervisor.
import type { Files } from '../../lib/files'
import type { HypervisorInfo, InstanceDict } from '../../rpc/node/dicts'

export async function linuxNodeInfo(files: Files): Promise<HypervisorInfo> {
  // Waits for no disk and takes 15 us; through the thread pool it would be ten times that, for each node and query.
  const memory = parseMemory(files.readFileSync('/proc/meminfo', 'utf8'))
  const cpus = await files.readFile('/proc/cpuinfo', 'utf8')
  const cpu_total = Math.max(1, (cpus.match(/^processor\s*\d*\s*:/gm) ?? []).length)
  return { ...memory, cpu_total, cpu_nodes: 1, cpu_sockets: sockets(cpus), cpu_dom0: cpu_total }
}

/** MiB. Free counts what the kernel gives back on demand; dom0 is what is neither free nor an instance's. */
export function parseMemory(meminfo: string): Pick<HypervisorInfo, 'memory_total' | 'memory_free' | 'memory_dom0'> {
  const kib = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(meminfo)?.[1] ?? 0)
  const free = ['MemFree', 'Buffers', 'Cached'].reduce((sum, key) => sum + kib(key), 0)
  return {
    memory_total: Math.floor(kib('MemTotal') / 1024),
    memory_free: Math.floor(free / 1024),
    memory_dom0: Math.floor(kib('Active') / 1024),
  }
}

function sockets(cpuinfo: string): number {
  const ids = new Set([...cpuinfo.matchAll(/^physical id\s*:\s*(\d+)/gm)].map((match) => match[1]))
  return Math.max(1, ids.size)
}

/** An instance gets all it may have, or less, down to its minimum, when the node is short. */
export function startupMemory(instance: InstanceDict, free_mib: number): number {
  const { minmem, maxmem } = instance.beparams
  return Math.max(minmem, Math.min(maxmem, free_mib))
}
