// CPU pinning: which processors of the node may run each virtual CPU of an instance.
import type { Run } from '../../../lib/programs/run-command'
import { CPU_MASK_CPUS_MAX } from '../../../model/limits/hypervisor'
import { HypervisorFailure } from '../hypervisor'
import { isObject } from '../../../lib/shapes/shape'
import type { Qmp } from './qmp'

/** `taskset`'s CPU list for each virtual CPU, or `'all'`; a single mask applies to all of them. */
export type CpuMasks = 'all' | readonly string[]

/** `cpu_mask`: masks joined by `:`; ranges `1-3`, exclusions `^2`, or the word `all`. */
export function parseCpuMask(mask: string): CpuMasks {
  if (mask === '' || mask === 'all') return 'all'
  let named = 0
  return mask.split(':').map((part) => {
    const cpus = new Set<number>()
    for (const item of part.split(',')) {
      const match = /^(\^?)(\d+)(?:-(\d+))?$/.exec(item.trim())
      if (item.trim() === 'all') return 'all'
      if (!match) throw new HypervisorFailure(`Invalid CPU mask: ${mask}`)
      const [, exclude, first = '0', last = first] = match
      named += Math.max(0, Number(last) - Number(first)) + 1
      if (named > CPU_MASK_CPUS_MAX)
        throw new HypervisorFailure(`Invalid CPU mask: it names more than ${CPU_MASK_CPUS_MAX} CPUs in all its parts`)
      for (let cpu = Number(first); cpu <= Number(last); cpu++)
        if (exclude === '^') cpus.delete(cpu)
        else cpus.add(cpu)
    }
    if (cpus.size === 0) throw new HypervisorFailure(`Invalid CPU mask: ${mask} leaves no CPU`)
    return [...cpus].sort((a, b) => a - b).join(',')
  })
}

export async function pinCpus(run: Run, qmp: Qmp, mask: string, pid: number): Promise<void> {
  const masks = parseCpuMask(mask)
  if (masks === 'all') return
  const [single] = masks
  if (masks.length === 1 && single !== undefined) return await taskset(run, ['-a', '-p', '-c', single, String(pid)])
  const cpus = await qmp.run('query-cpus-fast')
  const threads = Array.isArray(cpus) ? cpus.filter(isObject).map((cpu) => Number(cpu['thread-id'])) : []
  if (threads.length !== masks.length)
    throw new HypervisorFailure(`cpu_mask has ${masks.length} entries, the instance ${threads.length} virtual CPUs`)
  for (const [index, thread] of threads.entries()) {
    const cpuList = masks[index]
    if (cpuList !== undefined && cpuList !== 'all') await taskset(run, ['-p', '-c', cpuList, String(thread)])
  }
}

async function taskset(run: Run, args: readonly string[]): Promise<void> {
  const result = await run(['taskset', ...args], { timeout_s: 30 })
  if (result.code !== 0) throw new HypervisorFailure(`taskset ${args.join(' ')} failed: ${result.output.trim()}`)
}
