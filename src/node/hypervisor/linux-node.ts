// Facts about a Linux node, for any hypervisor.
import type { Files } from '../../lib/files'
import type { HypervisorInfo, InstanceDict } from '../../rpc/node/dicts'

export async function linuxNodeInfo(files: Files): Promise<HypervisorInfo> {
  // Waits for no disk and takes 15 us; the thread pool would take ten times as long, for each node and query.
  const memory = parseMemory(files.readFileSync('/proc/meminfo', 'utf8'))
  const cpus = await files.readFile('/proc/cpuinfo', 'utf8')
  const cpu_total = Math.max(1, (cpus.match(/^processor\s*\d*\s*:/gm) ?? []).length)
  return { ...memory, cpu_total, cpu_nodes: 1, cpu_sockets: sockets(cpus), cpu_dom0: cpu_total }
}

/** MiB. `free` includes memory that the kernel frees on demand; `dom0` is what is neither free nor an instance's. */
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

/** An instance gets its maximum memory, or less, down to its minimum, if the node is short. */
export function startupMemory(instance: InstanceDict, free_mib: number): number {
  const { minmem, maxmem } = instance.beparams
  return Math.max(minmem, Math.min(maxmem, free_mib))
}
