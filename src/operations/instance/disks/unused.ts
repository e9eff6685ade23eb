// Deactivates disks after a start or a stop whose outcome is not known. A guest that runs, or may run, keeps its disks.
import { hvParamsOf, runtimeOf } from '../checks'
import type { UnitContext } from '../../unit-context'
import type { InstanceView } from '../view'
import { shutdownDisks } from './activation'

/** Asks the primary node first. Only one that says so, or is marked offline, is known not to run the guest. */
export async function shutdownUnusedDisks(ctx: UnitContext, view: InstanceView): Promise<void> {
  const { instance, primary } = view
  const { name, hypervisor } = instance
  if (view.disks.length === 0) return void (await shutdownDisks(ctx, view))
  const answer = await ctx.nodes.persist(primary, 'instance_info', [name, hypervisor, hvParamsOf(view)])
  const mayRun = answer.ok ? runtimeOf(answer.payload) !== undefined : !answer.offline
  if (!mayRun) return void (await shutdownDisks(ctx, view))
  const how = answer.ok ? 'runs' : 'may run'
  const why = answer.ok ? '' : `, which does not tell (${answer.error})`
  ctx.log.warning(
    `Instance ${name} ${how} on node ${primary.name}${why}, so its disks stay active`,
    `"gnt-instance stop ${name}" stops it and deactivates them, "gnt-instance start ${name}" starts what does not run`,
  )
}
