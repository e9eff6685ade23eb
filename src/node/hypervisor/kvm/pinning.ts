// CPU pinning: which processors of the node may run each virtual CPU of an instance.
import type { Files } from '../../../lib/files'
import type { Run } from '../../../lib/programs/run-command'
import { type CpuMask, cpuMaskProblem, readCpuMasks } from '../../../model/cpu-mask'
import { HypervisorError } from '../../../model/errors'
import { HypervisorFailure } from '../hypervisor'
import { isObject } from '../../../lib/shapes/shape'
import type { Qmp } from './qmp'

export function parseCpuMask(mask: string): readonly CpuMask[] {
  try {
    return readCpuMasks(mask)
  } catch (error) {
    if (error instanceof HypervisorError) throw new HypervisorFailure(error.message)
    throw error
  }
}

const ONLINE = '/sys/devices/system/cpu/online'

/** Refuses what `pinCpus` could not do with so many virtual CPUs. `checkCpus` has looked for the node's. */
export function checkPinning(mask: string, vcpus: number): void {
  const problem = cpuMaskProblem(mask, parseCpuMask(mask), vcpus)
  if (problem !== undefined) throw new HypervisorFailure(problem)
}

/** Refuses CPUs that this node does not have. Missing ones do not matter as long as one of each part is here. */
export async function checkCpus(files: Files, mask: string): Promise<void> {
  const masks = parseCpuMask(mask)
  if (masks.every((part) => part === 'all')) return
  const online = (await files.readFile(ONLINE, 'utf8').catch(() => '')).trim()
  const [here = 'all'] = parseCpuMask(online)
  if (here === 'all') return
  for (const part of masks)
    if (part !== 'all' && !part.some((cpu) => here.includes(cpu)))
      throw new HypervisorFailure(
        `Parameter 'cpu_mask': this node has none of the CPUs ${part.join(',')}, only ${online}`,
      )
}

export async function pinCpus(run: Run, qmp: Qmp, mask: string, pid: number): Promise<void> {
  const masks = parseCpuMask(mask)
  const [single] = masks
  if (masks.length === 1 && single !== undefined)
    return single === 'all' ? undefined : await taskset(run, ['-a', '-p', '-c', single.join(','), String(pid)])
  const answer = await qmp.run('query-cpus-fast')
  const threads = Array.isArray(answer) ? answer.filter(isObject).map((cpu) => Number(cpu['thread-id'])) : []
  const problem = cpuMaskProblem(mask, masks, threads.length)
  if (problem !== undefined) throw new HypervisorFailure(problem)
  for (const [index, thread] of threads.entries()) {
    const cpus = masks[index]
    if (cpus !== undefined && cpus !== 'all') await taskset(run, ['-p', '-c', cpus.join(','), String(thread)])
  }
}

async function taskset(run: Run, args: readonly string[]): Promise<void> {
  const result = await run(['taskset', ...args], { timeout_s: 30 })
  if (result.code !== 0) throw new HypervisorFailure(`taskset ${args.join(' ')} failed: ${result.output.trim()}`)
}
