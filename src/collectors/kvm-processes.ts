// The processes of this node's KVM instances.
import { type ProcessFacts, processFacts } from './processes'
import { type NodeSources, readIfThere } from './report'

export interface KvmProcess extends ProcessFacts {
  readonly command: readonly string[]
}

/** By instance. Ignores a pid file whose process has ended, or is another one by now. */
export async function kvmProcesses(sources: NodeSources): Promise<Map<string, KvmProcess>> {
  const directory = `${sources.paths.runDir}/kvm-hypervisor/pid`
  const probes = (await sources.list(directory)).map(async (name) => {
    const pid = Number(await readIfThere(sources, `${directory}/${name}`))
    if (!Number.isInteger(pid) || pid <= 0) return []
    const command = (await readIfThere(sources, `/proc/${pid}/cmdline`).catch(() => undefined)) ?? ''
    const words = command.split('\0')
    const isIts = words.some((word, at) => word === '-name' && words[at + 1]?.split(',')[0] === name)
    const facts = isIts ? await processFacts(sources, pid) : undefined
    return facts === undefined ? [] : [[name, { ...facts, command: words }] as const]
  })
  return new Map((await Promise.all(probes)).flat())
}
