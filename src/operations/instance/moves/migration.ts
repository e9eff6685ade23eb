// Migrates a running instance from its primary node to another, and repairs an interrupted migration.
import { change } from '../../../config/changes'
import type { Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import { MIGRATION_FEEDBACK_S, MIGRATION_POLL_S } from '../../../model/limits/operations'
import type { UnitContext } from '../../unit-context'
import { hvParamsOf, runtimeOf } from '../checks'
import { closeDisks, isConsistent, openDisks } from '../disks/activation'
import { keepsMirrors, repairMirror, toDualPrimary, toSinglePrimary, waitForResync } from './mirror'
import type { Move } from './plan'
import { tellRemarks } from '../startup'
import { noteUnconfirmed, unconfirmedNodes } from './unconfirmed'
import { factsOf } from '../../../model/templates'
import { allNodes, dictOf, diskDictOf, reread } from '../view'
import { errorText } from '../../../lib/system-failure'

export interface MigrationOptions {
  readonly allowRuntimeChanges: boolean
  readonly ignoreVersions: boolean
}

export async function migrate(ctx: UnitContext, move: Move, options: MigrationOptions): Promise<void> {
  const { view, target, live } = move
  const { instance, primary } = view
  ctx.log.say(`Migrating instance ${instance.name}`)
  await checkVersions(ctx, move, options.ignoreVersions)
  await checkDisks(ctx, move)
  await shrink(ctx, move, options.allowRuntimeChanges)
  const dict = dictOf(view)
  const what = `Failed fetching source migration information from ${primary.name}`
  const info = await ctx.nodes.call(primary, what, 'migration_info', [dict])
  await shareDisks(ctx, move)

  const noted = await unconfirmedNodes(ctx, view)
  // Noted in the configuration, in case this job dies and leaves a guest there.
  await ctx.config.change(noteUnconfirmed(view, noted, [...noted, target.uuid]))
  ctx.log.say(`* preparing ${target.name} to accept the instance`)
  const accepted = await ctx.nodes.attempt(target, 'accept_instance', [dict, info, target.secondary_ip])
  if (!accepted.ok) await abort(ctx, move, info, 'Pre-migration failed, aborting', 'pre-migrate', accepted.error)
  else tellRemarks(ctx, accepted.payload)

  ctx.log.say(`* migrating instance to ${target.name}`)
  const { cluster_name } = view.config.cluster
  const args = [cluster_name, dict, target.secondary_ip, live] as const
  const started = await ctx.nodes.attempt(primary, 'instance_migrate', [...args])
  if (!started.ok) await abort(ctx, move, info, 'Migration failed, aborting', 'migrate', started.error)

  const failure = (await transfer(ctx, move)) ?? (await missingAtTarget(ctx, move))
  if (failure !== undefined) await abort(ctx, move, info, 'Migration failed, aborting', 'migrate', failure)
  await settle(ctx, move, info)
}

/** Lets both nodes write to the disks. On failure only the primary node may. */
async function shareDisks(ctx: UnitContext, { view, target }: Move): Promise<void> {
  await closeDisks(ctx, view, target)
  try {
    if (keepsMirrors(view)) await toDualPrimary(ctx, view)
    await openDisks(ctx, view, view.primary, false)
    await openDisks(ctx, view, target, false)
  } catch (error) {
    await disksBack(ctx, view, view.primary, target)
    throw error
  }
}

async function checkVersions(ctx: UnitContext, { view, target }: Move, ignore: boolean): Promise<void> {
  const nodes = [view.primary, target]
  const results = await ctx.nodes.many(nodes, 'node_info', [[], [[view.instance.hypervisor, hvParamsOf(view)]]])
  const [from, to] = nodes.map((node) => {
    const what = `Unable to retrieve node information from node '${node.name}'`
    const [, , hypervisors] = ctx.nodes.raise(results, node, what)
    const version = hypervisors?.[0]?.hv_version
    return version === undefined ? undefined : JSON.stringify(version)
  })
  if (from === undefined || to === undefined || from === to) return
  ctx.log.say(`* warning: hypervisor version mismatch between source (${from}) and target (${to}) node`)
  // QEMU's machine types keep a guest's hardware stable across versions. Only the way back to an older version is not
  // guaranteed.
  if (ignore) ctx.log.say('  continuing anyway (told to ignore version mismatch)')
  else throw new OpExecError(`Unsupported migration between hypervisor versions (${from} to ${to})`)
}

async function checkDisks(ctx: UnitContext, { view, target }: Move): Promise<void> {
  ctx.log.say('* checking disk consistency between source and target')
  for (const [index, disk] of view.disks.entries())
    if (!(await isConsistent(ctx, view, disk, target)))
      throw new OpExecError(`Disk ${index} is degraded or not fully synchronized on target node, aborting migration`)
}

/** If the guest has more memory than the target has free, it first gives some back. */
async function shrink(ctx: UnitContext, move: Move, allowed: boolean): Promise<void> {
  const { view, target, memoryUsed_mib: used, memoryFree_mib: free } = move
  if (used <= free) return
  if (!allowed)
    throw new OpExecError(
      `Memory ballooning not allowed and not enough free memory to fit instance ${view.instance.name} on target node ${target.name} (have ${free}MB, need ${used}MB)`,
    )
  ctx.log.say(`* setting instance memory to ${free}`)
  const what = 'Cannot modify instance runtime memory'
  await ctx.nodes.call(view.primary, what, 'instance_balloon_memory', [dictOf(view), free])
}

/** Follows the transfer to its end. Returns the reason of a failure. */
async function transfer(ctx: UnitContext, { view }: Move): Promise<string | undefined> {
  const { clock } = ctx.env
  const dict = dictOf(view)
  ctx.log.say('* starting memory transfer')
  let told_ms = clock.monotonic_ms()
  for (;;) {
    const result = await ctx.nodes.attempt(view.primary, 'instance_get_migration_status', [dict])
    if (!result.ok) return result.error
    const { status, transferred_ram, total_ram } = result.payload
    if (status === 'failed' || status === 'cancelled') return 'hypervisor returned failure'
    if (status !== 'active') break
    if (clock.monotonic_ms() - told_ms > MIGRATION_FEEDBACK_S * 1000 && transferred_ram !== undefined && total_ram) {
      ctx.log.say(`* memory transfer progress: ${((100 * transferred_ram) / total_ram).toFixed(2)} %`)
      told_ms = clock.monotonic_ms()
    }
    await clock.sleep(MIGRATION_POLL_S * 1000)
  }
  ctx.log.say('* memory transfer complete')
  return undefined
}

/**
 * A source node with Ganeti has sent everything, but does not know whether the target could load it. While its process exists, the guest
 * can continue there.
 */
async function missingAtTarget(ctx: UnitContext, { view, target }: Move): Promise<string | undefined> {
  const { name, hypervisor } = view.instance
  if (hypervisor !== 'kvm') return undefined
  const answer = await ctx.nodes.attempt(target, 'instance_info', [name, hypervisor, hvParamsOf(view)])
  return answer.ok && runtimeOf(answer.payload) === undefined ? 'the target did not load it' : undefined
}

/** From here on the instance runs on the target. */
async function settle(ctx: UnitContext, { view, target, live }: Move, info: unknown): Promise<void> {
  const { instance, primary } = view
  const what = 'Could not finalize instance migration'
  await ctx.nodes.call(primary, what, 'instance_finalize_migration_src', [dictOf(view), true, live])
  const mirrored = keepsMirrors(view)
  if (!mirrored) await closeDisks(ctx, view, primary)
  const noted = await unconfirmedNodes(ctx, view)
  await ctx.config.change([
    change('setInstancePrimaryNode', instance.uuid, target.uuid),
    ...noteUnconfirmed(view, noted, without(noted, target)),
  ])
  const moved = await reread(ctx, view)
  await ctx.nodes.call(target, what, 'instance_finalize_migration_dst', [dictOf(moved), info, true])
  if (mirrored) {
    await closeDisks(ctx, moved, primary)
    await waitForResync(ctx, moved)
    await toSinglePrimary(ctx, moved)
  } else await openDisks(ctx, moved, target, true)
  await letGo(ctx, moved, primary)
  ctx.log.say('* done')
}

/** A node that keeps an unneeded disk device would block others that want it. A failure never hides another one. */
async function letGo(ctx: UnitContext, view: Move['view'], node: Node): Promise<void> {
  for (const disk of view.disks.filter(({ dev_type }) => factsOf(dev_type).mapped === true)) {
    const result = await ctx.nodes.attempt(node, 'blockdev_shutdown', [diskDictOf(view, disk)])
    if (!result.ok) ctx.log.warning(`Could not unmap ${disk.iv_name} on node ${node.name}: ${result.error}`)
  }
}

/** Restores the instance on its primary node, and names what could not be undone. */
async function abort(
  ctx: UnitContext,
  move: Move,
  info: unknown,
  text: string,
  verb: string,
  error: string,
): Promise<never> {
  const { view, target } = move
  ctx.log.say(text)
  const { words } = await giveUp(ctx, move, info)
  await disksBack(ctx, view, view.primary, target)
  const reason = words === '' || error.includes(words) ? error : `${error}; node ${target.name} says: ${words}`
  throw new OpExecError(`Could not ${verb} instance ${view.instance.name}: ${reason}`)
}

/** Tells both nodes that the migration has failed. */
async function giveUp(
  ctx: UnitContext,
  { view, target, live }: Move,
  info: unknown,
): Promise<{ failures: string[]; words: string }> {
  const dict = dictOf(view)
  const there = await ctx.nodes.attempt(target, 'instance_finalize_migration_dst', [dict, info, false])
  const noted = await unconfirmedNodes(ctx, view)
  if (there.ok) await ctx.config.change(noteUnconfirmed(view, noted, without(noted, target)))
  else ctx.log.warning(`Aborting migration failed on target node ${target.name}: ${there.error}`)
  const here = await ctx.nodes.attempt(view.primary, 'instance_finalize_migration_src', [dict, false, live])
  if (!here.ok) ctx.log.warning(`Aborting migration failed on source node ${view.primary.name}: ${here.error}`)
  const failures = [there, here].flatMap((answer) => (answer.ok ? [] : [answer.error]))
  return { failures, words: there.ok && typeof there.payload === 'string' ? there.payload : '' }
}

async function disksBack(ctx: UnitContext, view: Move['view'], primary: Node, target: Node): Promise<void> {
  try {
    await closeDisks(ctx, view, target)
    if (keepsMirrors(view)) await toSinglePrimary(ctx, view)
    else await openDisks(ctx, view, primary, true)
  } catch (error) {
    ctx.log.warning(`The disks could not be given back to node ${primary.name}: ${errorText(error)}`)
  }
  await letGo(ctx, view, target)
}

/** After an interrupted migration: finds where the instance runs, and corrects the configuration. */
export async function cleanUp(ctx: UnitContext, move: Move): Promise<void> {
  const { view } = move
  const { instance, primary } = view
  ctx.log.say(`Migrating instance ${instance.name}`)
  let places = await whereItRuns(ctx, view)
  const runsOn = (node: Node) => places.some(({ uuid }) => uuid === node.uuid)
  if (runsOn(primary) && runsOn(move.target)) {
    ctx.log.say('Trying to cleanup after failed migration')
    const what = `Failed fetching source migration information from ${primary.name}`
    const info = await ctx.nodes.call(primary, what, 'migration_info', [dictOf(view)])
    const { failures } = await giveUp(ctx, move, info)
    if (failures.length > 0) throw new OpExecError(`Instance migration cleanup failed: ${failures.join(',')}`)
    places = await whereItRuns(ctx, view)
  }
  if (runsOn(primary) && runsOn(move.target))
    throw new OpExecError(
      'Instance seems to be running on two nodes, or the hypervisor is confused; you will have to ensure manually that it runs only on one and restart this operation',
    )
  // It is to be started on its primary node, where a device at the target would be in the way.
  if (places.length === 0) await letGo(ctx, view, move.target)
  const target = runsOn(primary) || runsOn(move.target) ? move.target : onlyPlace(places)
  if (keepsMirrors(view) && !allNodes(view).some(({ uuid }) => uuid === target.uuid))
    throw new OpExecError(
      `Instance ${instance.name} runs on node ${target.name}, which has neither side of its disks; stop it there, then try again`,
    )
  if (target.uuid !== move.target.uuid)
    ctx.log.say(`* instance running on unexpected node (${target.name}), updating as the new secondary`)
  const moved = runsOn(target)
  if (moved) {
    ctx.log.say(`* instance running on secondary node (${target.name}), updating config`)
    await ctx.config.change([change('setInstancePrimaryNode', instance.uuid, target.uuid)])
  } else ctx.log.say(`* instance confirmed to be running on its primary node (${primary.name})`)
  // All nodes have answered where it runs.
  await ctx.config.change(noteUnconfirmed(view, await unconfirmedNodes(ctx, view), []))
  const current = await reread(ctx, view)
  const left = moved ? primary : target
  await closeDisks(ctx, current, left, true)
  if (keepsMirrors(current)) await repairMirror(ctx, current)
  else await openDisks(ctx, current, current.primary, true)
  await letGo(ctx, current, left)
  ctx.log.say('* done')
}

const without = (uuids: readonly string[], node: Node): string[] => uuids.filter((uuid) => uuid !== node.uuid)

async function whereItRuns(ctx: UnitContext, { config, instance }: Move['view']): Promise<Node[]> {
  ctx.log.say('* checking where the instance actually runs (if this hangs, the hypervisor might be in a bad state)')
  const nodes = Object.values((await ctx.config.read({ nodes: 'all' })).nodes).filter(({ offline }) => !offline)
  const results = await ctx.nodes.many(nodes, 'instance_list', [[instance.hypervisor], config.cluster.hvparams])
  const { name } = instance
  // Xen gives an instance other names during a migration.
  const names = [name, `migrating-${name}`, `${name}--incoming`, `${name}--migratedaway`]
  const found = nodes.filter((node) => {
    const running = ctx.nodes.raise(results, node, `Can't contact node ${node.name}`)
    return running.some((one) => names.includes(one))
  })
  ctx.log.say(`* instance running on: ${found.map((node) => node.name).join(',')}`)
  return found
}

/** An instance that runs on one unexpected node counts as moved there. */
function onlyPlace(places: readonly Node[]): Node {
  const [place, ...others] = places
  if (place !== undefined && others.length === 0) return place
  throw new OpExecError(
    "Instance does not seem to be running at all; in this case it's safer to repair by running 'gnt-instance stop' to ensure disk shutdown, and then restarting it",
  )
}
