// A look at the KVM instances: what each uses of the node, and its counters. It reads only files of the kernel, because
// QEMU's monitor talks to one client at a time, and noded needs it.
import { kvmProcesses, type KvmProcess } from '../kvm-processes'
import { type NodeSources, readIfThere } from '../report'
import type { Counters } from './rates'
import { interfaceTraffic, sum, type Traffic } from './traffic'

type Counted =
  'cpus_busy' | 'disk_read_bytes_per_s' | 'disk_write_bytes_per_s' | 'net_in_bytes_per_s' | 'net_out_bytes_per_s'

export interface InstanceLook {
  readonly now: { readonly memory_bytes?: number }
  readonly counters: Counters<Counted>
  /** Seconds after the node's own start. */
  readonly started_s: number
}

export async function lookAtInstances(sources: NodeSources): Promise<ReadonlyMap<string, InstanceLook>> {
  const processes = await kvmProcesses(sources)
  if (processes.size === 0) return new Map()
  const interfaces = await interfaceTraffic(sources)
  const probes = [...processes].map(async ([name, process]) => {
    return [name, await lookAt(sources, name, process, interfaces)] as const
  })
  return new Map(await Promise.all(probes))
}

async function lookAt(
  sources: NodeSources,
  name: string,
  process: KvmProcess,
  interfaces: ReadonlyMap<string, Traffic>,
): Promise<InstanceLook> {
  const [memory_bytes, disks, taps] = await Promise.all([
    memoryOf(sources, process.pid),
    isRemote(process.command) ? undefined : storageOf(sources, process.pid),
    tapsOf(sources, name),
  ])
  const nics = sum(taps.flatMap((tap) => interfaces.get(tap) ?? []))
  return {
    now: memory_bytes === undefined ? {} : { memory_bytes },
    counters: {
      cpus_busy: process.cpu_s,
      ...{ disk_read_bytes_per_s: disks?.in_bytes, disk_write_bytes_per_s: disks?.out_bytes },
      // The guest's output is the tap's input.
      ...{ net_in_bytes_per_s: nics?.out_bytes, net_out_bytes_per_s: nics?.in_bytes },
    },
    started_s: process.started_s,
  }
}

/** If a process ends during the look, its data is unknown. */
const factsOf = async (
  sources: NodeSources,
  pid: number,
  file: string,
): Promise<(key: string) => number | undefined> => {
  const text = (await readIfThere(sources, `/proc/${pid}/${file}`).catch(() => undefined)) ?? ''
  return (key) => {
    const found = new RegExp(`^${key}:\\s*(\\d+)`, 'm').exec(text)?.[1]
    return found === undefined ? undefined : Number(found)
  }
}

async function memoryOf(sources: NodeSources, pid: number): Promise<number | undefined> {
  const kib = await factsOf(sources, pid, 'status')
  const own = kib('VmRSS')
  return own === undefined ? undefined : (own + (kib('HugetlbPages') ?? 0)) * 1024
}

async function storageOf(sources: NodeSources, pid: number): Promise<Traffic | undefined> {
  const bytes = await factsOf(sources, pid, 'io')
  const [in_bytes, out_bytes] = [bytes('read_bytes'), bytes('write_bytes')]
  return in_bytes === undefined || out_bytes === undefined ? undefined : { in_bytes, out_bytes }
}

/** The kernel counts no storage for disks that QEMU reaches over the network. */
const isRemote = (command: readonly string[]): boolean =>
  command.some((word) => /(^|[,.])driver=(rbd|gluster|nbd|iscsi)(,|$)|(^|,)file=(rbd|gluster|nbd|iscsi)[:+]/.test(word))

/** noded notes them when it makes them. QEMU's own user-mode network has none. */
async function tapsOf(sources: NodeSources, name: string): Promise<string[]> {
  const directory = `${sources.paths.runDir}/kvm-hypervisor/nic/${name}`
  const notes = (await sources.list(directory).catch(() => [])).map((index) =>
    readIfThere(sources, `${directory}/${index}`).catch(() => undefined),
  )
  return (await Promise.all(notes)).flatMap((note) => note?.trim() ?? [])
}
