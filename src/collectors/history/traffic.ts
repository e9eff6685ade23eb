// The counters of the node's disks and network interfaces.
import { type NodeSources, readIfThere } from '../report'

export interface Traffic {
  readonly in_bytes: number
  readonly out_bytes: number
}

const HEADER_LINES = 2
const SENT = 8

/** Received and sent bytes of each interface, by the kernel's counters. */
export async function interfaceTraffic(sources: NodeSources): Promise<ReadonlyMap<string, Traffic>> {
  const lines = ((await readIfThere(sources, '/proc/net/dev')) ?? '').split('\n').slice(HEADER_LINES)
  const found = lines.flatMap((line) => {
    const [name = '', counts = ''] = line.split(/:\s*/)
    const numbers = counts.trim().split(/\s+/).map(Number)
    const [in_bytes, out_bytes] = [numbers[0], numbers[SENT]]
    return in_bytes === undefined || out_bytes === undefined ? [] : [[name.trim(), { in_bytes, out_bytes }] as const]
  })
  return new Map(found)
}

const SECTOR_BYTES = 512
const [NAME, READ, WRITTEN] = [2, 5, 9]

/** Read and written bytes of each disk. */
export async function diskTraffic(sources: NodeSources): Promise<ReadonlyMap<string, Traffic>> {
  const lines = ((await readIfThere(sources, '/proc/diskstats')) ?? '').split('\n')
  const found = lines.flatMap((line) => {
    const words = line.trim().split(/\s+/)
    const [name, read, written] = [words[NAME], Number(words[READ]), Number(words[WRITTEN])]
    if (name === undefined || Number.isNaN(read + written)) return []
    return [[name, { in_bytes: read * SECTOR_BYTES, out_bytes: written * SECTOR_BYTES }] as const]
  })
  return new Map(found)
}

/** Only those with a physical device: bridges, taps, volumes and partitions would count the same again. */
export async function ofDevices(
  sources: NodeSources,
  directory: '/sys/block' | '/sys/class/net',
  all: ReadonlyMap<string, Traffic>,
): Promise<Traffic | undefined> {
  const probes = [...all].map(async ([name, traffic]) => {
    const device = await sources.list(`${directory}/${name}/device`).catch(() => [])
    return device.length > 0 ? [traffic] : []
  })
  return sum((await Promise.all(probes)).flat())
}

/** Undefined if there are none. */
export function sum(all: readonly Traffic[]): Traffic | undefined {
  if (all.length === 0) return undefined
  return {
    in_bytes: all.reduce((bytes, one) => bytes + one.in_bytes, 0),
    out_bytes: all.reduce((bytes, one) => bytes + one.out_bytes, 0),
  }
}
