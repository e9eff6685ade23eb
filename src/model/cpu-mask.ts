// `cpu_mask`: which CPUs of the node may run each virtual CPU of an instance.
import { HypervisorError } from './errors'
import { CPU_MASK_CPUS_MAX } from './limits/hypervisor'

/** CPUs by their numbers, or all. */
export type CpuMask = 'all' | readonly number[]

/** Masks joined by `:`, one for each virtual CPU or a single one for all; ranges `1-3`, exclusions `^2`, or the word `all`. */
export function readCpuMasks(text: string): readonly CpuMask[] {
  if (text === '') return ['all']
  let named = 0
  return text.split(':').map((part) => {
    const cpus = new Set<number>()
    for (const item of part.split(',')) {
      const match = /^(\^?)(\d+)(?:-(\d+))?$/.exec(item.trim())
      if (item.trim() === 'all') return 'all'
      if (!match) throw new HypervisorError(`Invalid CPU mask: ${text}`)
      const [, exclude, first = '0', last = first] = match
      named += Math.max(0, Number(last) - Number(first)) + 1
      if (named > CPU_MASK_CPUS_MAX)
        throw new HypervisorError(`Invalid CPU mask: it names more than ${CPU_MASK_CPUS_MAX} CPUs in all its parts`)
      for (let cpu = Number(first); cpu <= Number(last); cpu++)
        if (exclude === '^') cpus.delete(cpu)
        else cpus.add(cpu)
    }
    if (cpus.size === 0) throw new HypervisorError(`Invalid CPU mask: ${text} leaves no CPU`)
    return [...cpus].sort((a, b) => a - b)
  })
}

/** Says why an instance with so many virtual CPUs cannot have the masks. */
export const cpuMaskProblem = (text: string, masks: readonly CpuMask[], vcpus: number): string | undefined =>
  masks.length > 1 && masks.length !== vcpus
    ? `Number of vCPUs [${vcpus}] does not match the CPU mask [${text}]`
    : undefined

/** How many CPUs a node has that has the highest one. */
export const cpusNeeded = (masks: readonly CpuMask[]): number =>
  1 + masks.reduce((highest, mask) => Math.max(highest, mask === 'all' ? -1 : (mask.at(-1) ?? -1)), -1)
