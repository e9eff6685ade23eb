// Whether an instance and its nodes can have a CPU mask, with Ganeti's texts.
import type { Hypervisor, Node, Params } from '../../../model/config'
import { cpuMaskProblem, cpusNeeded, readCpuMasks } from '../../../model/cpu-mask'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'

/** `nodes`: those that must have its CPUs. */
export async function checkCpuMask(
  ctx: UnitContext,
  nodes: readonly Node[],
  { hypervisor, hvparams, vcpus }: { hypervisor: Hypervisor; hvparams: Params; vcpus: number },
): Promise<void> {
  const mask = String(hvparams['cpu_mask'] ?? '')
  const masks = readCpuMasks(mask)
  const problem = cpuMaskProblem(mask, masks, vcpus)
  if (problem !== undefined) throw new OpPrereqError(problem, ECODE.INVAL)
  const needed = cpusNeeded(masks)
  if (needed === 0) return
  const requested = nodes.filter((node) => node.vm_capable && !node.offline)
  const results = await ctx.nodes.many(requested, 'node_info', [null, [[hypervisor, hvparams]]])
  for (const node of requested) {
    const [, , answers] = ctx.nodes.raise(results, node, `Cannot get current information from node ${node.name}`)
    const cpus = answers?.[0]?.cpu_total
    if (typeof cpus !== 'number')
      throw new OpPrereqError(
        `Can't compute the number of physical CPUs on node ${node.name}, result was '${JSON.stringify(cpus)}'`,
        ECODE.ENVIRON,
      )
    if (needed > cpus)
      throw new OpPrereqError(`Node ${node.name} has ${cpus} physical CPUs, but ${needed} are required`, ECODE.NORES)
  }
}
