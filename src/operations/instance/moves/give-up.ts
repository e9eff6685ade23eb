// Undoes a migration that has failed: the guest goes on at its source.
import type { Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import { factsOf } from '../../../model/templates'
import type { NodeResult } from '../../../rpc/node/client'
import { errorText } from '../../../lib/system-failure'
import type { UnitContext } from '../../unit-context'
import { closeDisks, openDisks } from '../disks/activation'
import { dictOf, diskDictOf } from '../view'
import { keepsMirrors, toSinglePrimary } from './mirror'
import type { Move } from './plan'
import { canSwitch, keptBoth, phaseOf } from './transfer'
import { notePossibleLocations, possibleLocations, without } from './possible-locations'
import { migrationStatus } from './status'

/** A node that keeps an unneeded disk device would block others that want it. A failure never hides another one. */
export async function letGo(ctx: UnitContext, view: Move['view'], node: Node): Promise<void> {
  for (const disk of view.disks.filter(({ dev_type }) => factsOf(dev_type).mapped === true)) {
    const result = await ctx.nodes.attempt(node, 'blockdev_shutdown', [diskDictOf(view, disk)])
    if (!result.ok) ctx.log.warning(`Could not unmap ${disk.iv_name} on node ${node.name}: ${result.error}`)
  }
}

/** Restores the instance on its primary node, and names what could not be undone. */
export async function abort(
  ctx: UnitContext,
  move: Move,
  info: unknown,
  text: string,
  verb: string,
  error: string,
  outcome?: Error,
): Promise<never> {
  const { view, target } = move
  ctx.log.say(text)
  const { words, failures } = await giveUp(ctx, move, info)
  // Each side may still need the disks.
  if (failures.length > 0 && canSwitch(move)) throw keptBoth(move, [error, ...failures].join('; '))
  await disksBack(ctx, view, view.primary, target)
  const reason = words === '' || error.includes(words) ? error : `${error}; node ${target.name} says: ${words}`
  throw outcome ?? new OpExecError(`Could not ${verb} instance ${view.instance.name}: ${reason}`)
}

/**
 * Tells both nodes that the migration has failed. The source comes first, so that it cannot hand the guest over to a
 * target that is being dropped. A source that believes all has arrived may only go on when its target is gone.
 */
export async function giveUp(
  ctx: UnitContext,
  move: Move,
  info: unknown,
): Promise<{ failures: string[]; words: string }> {
  const { view, target, live } = move
  const dict = dictOf(view)
  const isDone = await believesDone(ctx, view)
  const source = () => ctx.nodes.attempt(view.primary, 'instance_finalize_migration_src', [dict, false, live])
  const first = isDone ? undefined : await source()
  const there: NodeResult<string | null> =
    first?.ok === false && canSwitch(move)
      ? { ok: false, offline: false, error: 'it is kept, since the source may have switched to post-copy' }
      : await dropTarget(ctx, move, info, first?.ok === true)
  const noted = await possibleLocations(ctx, view)
  if (there.ok) await ctx.config.change(notePossibleLocations(view, noted, without(noted, target)))
  else ctx.log.warning(`Aborting migration failed on target node ${target.name}: ${there.error}`)
  const here = first ?? (there.ok ? await source() : { ok: false as const, error: 'its target may have the guest' })
  if (!here.ok) ctx.log.warning(`Aborting migration failed on source node ${view.primary.name}: ${here.error}`)
  const failures = [there, here].flatMap((answer) => (answer.ok ? [] : [answer.error]))
  return { failures, words: there.ok && typeof there.payload === 'string' ? there.payload : '' }
}

/**
 * A stranger who connects and says nothing holds up a QEMU that waits for a greeting of TLS, so that it does not answer
 * its node. When our own source goes on with the guest, its target can be ended without being asked.
 */
async function dropTarget(ctx: UnitContext, { view, target }: Move, info: unknown, sourceGoesOn: boolean) {
  const dict = dictOf(view)
  const answer = await ctx.nodes.attempt(target, 'instance_finalize_migration_dst', [dict, info, false])
  if (answer.ok || !sourceGoesOn || view.instance.hypervisor !== 'kvm') return answer
  const ours = await ctx.nodes.attempt(view.primary, 'gantry_migration_tls', [dict])
  if (!ours.ok || !ours.payload) return answer
  return await ctx.nodes.attempt(target, 'instance_shutdown', [dict, 0, ctx.reason])
}

async function believesDone(ctx: UnitContext, view: Move['view']): Promise<boolean> {
  if (view.instance.hypervisor !== 'kvm') return false
  const answer = await migrationStatus(ctx, view, view.primary)
  return answer.ok && phaseOf(answer.payload) === 'complete'
}

export async function disksBack(ctx: UnitContext, view: Move['view'], primary: Node, target: Node): Promise<void> {
  try {
    await closeDisks(ctx, view, target)
    if (keepsMirrors(view)) await toSinglePrimary(ctx, view)
    else await openDisks(ctx, view, primary, true)
  } catch (error) {
    ctx.log.warning(`The disks could not be given back to node ${primary.name}: ${errorText(error)}`)
  }
  await letGo(ctx, view, target)
}
