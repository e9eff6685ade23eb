// Repairs an interrupted migration.
import { change } from '../../../config/changes'
import type { Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import { isGuestElsewhere } from '../../../model/guest-state'
import type { UnitContext } from '../../unit-context'
import { hvParamsOf } from '../checks'
import { assembleDisks, closeDisks, openDisks } from '../disks/activation'
import { allNodes, dictOf, diskDicts, reread } from '../view'
import { arrive, isIncomplete, lose, tellReason } from './arrival'
import { giveUp, letGo } from './give-up'
import { keepsMirrors, repairMirror } from './mirror'
import type { Move } from './plan'
import { Transfer } from './transfer'
import { notePossibleLocations, possibleLocations } from './possible-locations'
import { migrationStatus } from './status'

/** After an interrupted migration: finds where the instance runs, and corrects the configuration. */
export async function cleanUp(ctx: UnitContext, move: Move): Promise<void> {
  const { view } = move
  const { instance, primary } = view
  ctx.log.say(`Migrating instance ${instance.name}`)
  let places = await whereItRuns(ctx, view)
  if (instance.hypervisor === 'kvm' && (await goOn(ctx, move, places))) return
  const runsOn = (node: Node) => places.some(({ uuid }) => uuid === node.uuid)
  if (runsOn(primary) && places.length > 1) {
    const [other = move.target] = places.filter(({ uuid }) => uuid !== primary.uuid)
    ctx.log.say('Trying to cleanup after failed migration')
    const { failures } = await giveUp(ctx, { ...move, target: other }, await infoOf(ctx, view))
    if (failures.length > 0) throw new OpExecError(`Instance migration cleanup failed: ${failures.join(',')}`)
    places = await whereItRuns(ctx, view)
  }
  if (runsOn(primary) && places.length > 1)
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
  await ctx.config.change(notePossibleLocations(view, await possibleLocations(ctx, view), []))
  const current = await reread(ctx, view)
  if (moved) await tellReason(ctx, current.primary, instance.name)
  const left = moved ? primary : target
  await closeDisks(ctx, current, left, true)
  if (places.length > 0 && (!current.instance.disks_active || !(await hasMirrors(ctx, current, left))))
    await assembleDisks(ctx, current)
  if (keepsMirrors(current)) await repairMirror(ctx, current)
  else await openDisks(ctx, current, current.primary, true)
  await letGo(ctx, current, left)
  ctx.log.say('* done')
}

/** After a failed failover the other side of the mirrors may not be assembled. */
async function hasMirrors(ctx: UnitContext, view: Move['view'], node: Node): Promise<boolean> {
  return !keepsMirrors(view) || (await ctx.nodes.attempt(node, 'blockdev_getmirrorstatus', [diskDicts(view)])).ok
}

const infoOf = (ctx: UnitContext, view: Move['view']) =>
  ctx.nodes.call(
    view.primary,
    `Failed fetching source migration information from ${view.primary.name}`,
    'migration_info',
    [dictOf(view)],
  )

/**
 * Goes on with a migration whose source has given the guest away, or says that the guest is lost. Returns whether there was
 * one to go on with. What only waits for a guest is ended.
 */
async function goOn(ctx: UnitContext, move: Move, places: readonly Node[]): Promise<boolean> {
  const { view } = move
  const { primary } = view
  const others = places.filter(({ uuid }) => uuid !== primary.uuid)
  const [other] = others
  if (others.length > 1) return false
  const there = { ...move, target: other ?? (await notedTarget(ctx, move)) }
  if (others.length === places.length) return other !== undefined && (await goOnWithoutSource(ctx, there))
  const answer = await migrationStatus(ctx, view, primary)
  if (!answer.ok) return false
  const { switched = false } = answer.payload
  if (!switched && !(await isGuestAway(ctx, view, primary))) return false
  if (other === undefined) {
    if (switched) await lose(ctx, there)
    await giveUp(ctx, there, await infoOf(ctx, view))
    return false
  }
  const end = await new Transfer(ctx, there).follow()
  if (end.kind === 'failed') return false
  await arrive(ctx, there, end.kind === 'lost' ? null : await infoOf(ctx, view), end)
  return true
}

/** The source has ended, or its node is off. */
async function goOnWithoutSource(ctx: UnitContext, there: Move): Promise<boolean> {
  const { view, target } = there
  if (await isGuestAway(ctx, view, target)) {
    const what = `Could not end what waits for the guest on ${target.name}`
    await ctx.nodes.call(target, what, 'instance_finalize_migration_dst', [dictOf(view), null, false])
    throw new OpExecError(
      `Instance ${view.instance.name} does not run, and its migration did not bring it to node ${target.name}; "gnt-instance start ${view.instance.name}" starts it`,
    )
  }
  if (await isIncomplete(ctx, view, target)) await lose(ctx, there)
  return false
}

async function isGuestAway(ctx: UnitContext, view: Move['view'], node: Node): Promise<boolean> {
  const { name, hypervisor } = view.instance
  const answer = await ctx.nodes.attempt(node, 'instance_info', [name, hypervisor, hvParamsOf(view)])
  return answer.ok && isGuestElsewhere(answer.payload)
}

/** The node that was to get the guest. */
async function notedTarget(ctx: UnitContext, move: Move): Promise<Node> {
  const [uuid, ...more] = await possibleLocations(ctx, move.view)
  if (uuid === undefined || more.length > 0) return move.target
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  return Object.values(nodes).find((node) => node.uuid === uuid) ?? move.target
}

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
