// A migration whose job died may leave a guest at its target. Neither the configuration nor the primary node knows it.
import type { Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import { answeringNodes } from '../../../rpc/node/answering'
import type { UnitContext } from '../../unit-context'
import { dictOf, type InstanceView } from '../view'
import { isMirrored } from '../../../model/templates'

/** Stops such a guest before its open disks are removed; nobody else would. Skips nodes that do not answer. */
export async function stopOrphanGuest(ctx: UnitContext, view: InstanceView, ignoreFailures: boolean): Promise<void> {
  const { instance, config } = view
  const nodes = await whereItMayBe(ctx, view)
  const requested = answeringNodes(ctx.env.nodes, ctx.env.clock)
  const running = await requested.all(nodes, 'instance_list', [[instance.hypervisor], config.cluster.hvparams])
  for (const node of nodes) {
    const answer = running.get(node.uuid)
    if (answer?.ok !== true || !answer.payload.includes(instance.name)) continue
    ctx.log.say(`* stopping what an interrupted migration has left on node ${node.name}`)
    const stopped = await ctx.nodes.attempt(node, 'instance_shutdown', [dictOf(view), 0, ctx.reason])
    if (stopped.ok) continue
    const failure = `stop instance '${instance.name}' on node '${node.name}': ${stopped.error}`
    if (!ignoreFailures) throw new OpExecError(`Could not ${failure}`)
    ctx.log.say(`Warning: can't ${failure}`)
  }
}

/** The nodes, besides its primary, on which its disks can be used. */
async function whereItMayBe(ctx: UnitContext, { disks, primary }: InstanceView): Promise<Node[]> {
  if (!disks.every(({ dev_type }) => isMirrored(dev_type))) return []
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  return Object.values(nodes).filter((node) => node.uuid !== primary.uuid && node.vm_capable && !node.offline)
}
