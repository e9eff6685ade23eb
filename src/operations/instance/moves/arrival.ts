// The end of a migration: the guest is on the target, or its memory is lost.
import { change } from '../../../config/changes'
import type { Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import { MIGRATION_POLL_S, MIGRATION_UNHEARD_S } from '../../../model/limits/operations'
import type { ArgsOf, CallName } from '../../../rpc/node/calls'
import type { UnitContext } from '../../unit-context'
import { hvParamsOf, runtimeOf } from '../checks'
import { closeDisks, openDisks } from '../disks/activation'
import { dictOf, reread } from '../view'
import { abort, disksBack, letGo } from './give-up'
import { keepsMirrors, toSinglePrimary, waitForResync } from './mirror'
import type { Move } from './plan'
import { keptBoth, type Arrival } from './transfer'
import { notePossibleLocations, possibleLocations, without } from './possible-locations'
import { migrationStatus } from './status'

/** Everything was sent, or the guest is lost. */
export async function arrive(ctx: UnitContext, move: Move, info: unknown, end: Arrival): Promise<void> {
  const { view, target } = move
  const missing = end.kind === 'lost' ? 'gone' : await missingAtTarget(ctx, move)
  if (missing === undefined) return await settle(ctx, move, info)
  const reason = missing === 'gone' ? 'the target did not load it' : `node ${target.name} has not loaded it`
  if (end.kind === 'complete' && !end.switched)
    await abort(ctx, move, info, 'Migration failed, aborting', 'migrate', reason)
  if (missing === 'gone') await lose(ctx, move)
  throw keptBoth(move, `${reason}, though node ${view.primary.name} has sent everything`)
}

/**
 * The guest ran on the target, which has lost it, or will never get the rest of its memory. So that memory is lost. What the
 * source has of it does not fit to the disks any more. Both machines are ended, before anything can start.
 */
export async function lose(ctx: UnitContext, move: Move): Promise<never> {
  const { view, target } = move
  const { instance, primary } = view
  for (const node of [target, primary].filter(({ offline }) => !offline)) {
    ctx.log.say(`* ending what the migration has left on node ${node.name}`)
    const ended = await ctx.nodes.persist(node, 'instance_shutdown', [dictOf(view), 0, ctx.reason])
    if (!ended.ok)
      throw keptBoth(move, `the guest's memory is lost, but node ${node.name} does not end its machine: ${ended.error}`)
  }
  await disksBack(ctx, view, primary, target)
  const noted = await possibleLocations(ctx, view)
  await ctx.config.change(notePossibleLocations(view, noted, without(noted, target)))
  throw new OpExecError(
    `The memory of instance ${instance.name} is lost: after the switch to post-copy its machine on node ${target.name} has ended, or cannot ` +
      `get the rest of it. Its disks are safe: it starts anew from them with "gnt-instance start ${instance.name}", or by the watcher`,
  )
}

/** Whether a node has a guest which waits for a part of its memory that nobody sends. */
export async function isIncomplete(ctx: UnitContext, view: Move['view'], node: Node): Promise<boolean> {
  const answer = await migrationStatus(ctx, view, node)
  return answer.ok && answer.payload.status === 'postcopy-paused' && answer.payload.switched !== true
}

/**
 * A source node with Ganeti has sent everything, but does not know whether the target could load it. While its process exists, the guest
 * can continue there.
 */
async function missingAtTarget(ctx: UnitContext, move: Move): Promise<'gone' | 'waits' | undefined> {
  const { target, view } = move
  const { name, hypervisor } = view.instance
  if (hypervisor !== 'kvm') return undefined
  const { clock } = ctx.env
  const end_ms = clock.monotonic_ms() + MIGRATION_UNHEARD_S * 1000
  for (;;) {
    const answer = await ctx.nodes.attempt(target, 'instance_info', [name, hypervisor, hvParamsOf(view)])
    const runtime = answer.ok ? runtimeOf(answer.payload) : undefined
    if (answer.ok && runtime === undefined) return 'gone'
    if (runtime?.machine_state !== 'inmigrate') return undefined
    if (clock.monotonic_ms() >= end_ms) return 'waits'
    await clock.sleep(MIGRATION_POLL_S * 1000)
  }
}

/** From here on the instance runs on the target. */
async function settle(ctx: UnitContext, { view, target, live }: Move, info: unknown): Promise<void> {
  const { instance, primary } = view
  const what = 'Could not finalize instance migration'
  await persist(ctx, primary, what, 'instance_finalize_migration_src', [dictOf(view), true, live])
  const mirrored = keepsMirrors(view)
  if (!mirrored) await closeDisks(ctx, view, primary)
  const noted = await possibleLocations(ctx, view)
  await ctx.config.change([
    change('setInstancePrimaryNode', instance.uuid, target.uuid),
    ...notePossibleLocations(view, noted, without(noted, target)),
  ])
  const moved = await reread(ctx, view)
  await persist(ctx, target, what, 'instance_finalize_migration_dst', [dictOf(moved), info, true])
  await tellReason(ctx, target, instance.name)
  if (mirrored) {
    await closeDisks(ctx, moved, primary)
    await waitForResync(ctx, moved)
    await toSinglePrimary(ctx, moved)
  } else await openDisks(ctx, moved, target, true)
  await letGo(ctx, moved, primary)
  ctx.log.say('* done')
}

/** Who took the instance over should be able to say why it runs there. A node with Ganeti cannot. */
export async function tellReason(ctx: UnitContext, node: Node, instance: string): Promise<void> {
  await ctx.nodes.attempt(node, 'gantry_reason', [instance, ctx.reason, 'migrate'])
}

/** An answer that got lost leaves open whether the call was carried out; asked again, the node says so. */
async function persist<C extends CallName>(ctx: UnitContext, node: Node, what: string, call: C, args: ArgsOf<C>) {
  const result = await ctx.nodes.persist(node, call, args)
  if (!result.ok) throw new OpExecError(`${what}: ${result.error}`)
}
