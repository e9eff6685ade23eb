// A look at the node itself: its current figures and its counters.
import { TICKS_PER_S } from '../processes'
import { type NodeSources, readIfThere } from '../report'
import type { Counters } from './rates'
import { diskTraffic, interfaceTraffic, ofDevices } from './traffic'

type Counted =
  'cpus_busy' | 'disk_read_bytes_per_s' | 'disk_write_bytes_per_s' | 'net_in_bytes_per_s' | 'net_out_bytes_per_s'

export interface NodeLook {
  readonly now: Readonly<Partial<Record<'load' | 'memory_used_bytes' | 'memory_total_bytes', number>>>
  readonly counters: Counters<Counted>
}

export async function lookAtNode(sources: NodeSources): Promise<NodeLook> {
  const [load, memory, busy_s, disks, nics] = await Promise.all([
    ...([loadOf(sources), memoryOf(sources), busyOf(sources)] as const),
    diskTraffic(sources).then((all) => ofDevices(sources, '/sys/block', all)),
    interfaceTraffic(sources).then((all) => ofDevices(sources, '/sys/class/net', all)),
  ])
  return {
    now: { ...load, ...memory },
    counters: {
      cpus_busy: busy_s,
      ...{ disk_read_bytes_per_s: disks?.in_bytes, disk_write_bytes_per_s: disks?.out_bytes },
      ...{ net_in_bytes_per_s: nics?.in_bytes, net_out_bytes_per_s: nics?.out_bytes },
    },
  }
}

async function loadOf(sources: NodeSources): Promise<{ load?: number }> {
  const load = Number.parseFloat((await readIfThere(sources, '/proc/loadavg')) ?? '')
  return Number.isNaN(load) ? {} : { load }
}

async function memoryOf(sources: NodeSources): Promise<{ memory_used_bytes?: number; memory_total_bytes?: number }> {
  const text = (await readIfThere(sources, '/proc/meminfo')) ?? ''
  const bytes = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]) * 1024
  const [total, available] = [bytes('MemTotal'), bytes('MemAvailable')]
  if (Number.isNaN(total + available)) return {}
  return { memory_used_bytes: total - available, memory_total_bytes: total }
}

/**
 * Busy seconds of all processors: users, system, nice processes and interrupts. Idling and waiting for a disk do not
 * count.
 */
async function busyOf(sources: NodeSources): Promise<number | undefined> {
  const [, ...ticks] = ((await readIfThere(sources, '/proc/stat')) ?? '').split('\n', 1)[0]?.split(/\s+/) ?? []
  const [user, nice, system, , , irq, softirq] = ticks.map(Number)
  const busy = [user, nice, system, irq, softirq].reduce<number>((all, one) => all + (one ?? NaN), 0)
  return Number.isNaN(busy) ? undefined : busy / TICKS_PER_S
}
