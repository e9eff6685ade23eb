// Migrates a running instance from its primary node to another.
import { OpExecError } from '../../../model/errors'
import { JobCancelled } from '../../environment'
import type { UnitContext } from '../../unit-context'
import { hvParamsOf } from '../checks'
import { closeDisks, isConsistent, openDisks } from '../disks/activation'
import { tellRemarks } from '../startup'
import { dictOf } from '../view'
import { arrive } from './arrival'
import { cleanUp } from './clean-up'
import { abort, disksBack } from './give-up'
import { keepsMirrors, toDualPrimary } from './mirror'
import type { Move } from './plan'
import { Transfer } from './transfer'
import { notePossibleLocations, possibleLocations } from './possible-locations'
import { migrationStatus } from './status'

export interface MigrationOptions {
  readonly allowRuntimeChanges: boolean
  readonly ignoreVersions: boolean
}

export async function migrate(ctx: UnitContext, move: Move, options: MigrationOptions): Promise<void> {
  const { view, target, live } = move
  const { instance, primary } = view
  if (await isInterrupted(ctx, view)) return await cleanUp(ctx, move)
  ctx.log.say(`Migrating instance ${instance.name}`)
  await checkVersions(ctx, move, options.ignoreVersions)
  await checkDisks(ctx, move)
  await shrink(ctx, move, options.allowRuntimeChanges)
  const dict = dictOf(view)
  const what = `Failed fetching source migration information from ${primary.name}`
  const info = await ctx.nodes.call(primary, what, 'migration_info', [dict])
  await shareDisks(ctx, move)

  const isSecure = await canEncrypt(ctx, move)
  const noted = await possibleLocations(ctx, view)
  // Noted in the configuration, in case this job dies and leaves a guest there.
  await ctx.config.change(notePossibleLocations(view, noted, [...noted, target.uuid]))
  ctx.log.say(`* preparing ${target.name} to accept the instance`)
  const accept = isSecure ? 'gantry_migration_accept' : 'accept_instance'
  const accepted = await ctx.nodes.attempt(target, accept, [dict, info, target.secondary_ip])
  if (!accepted.ok) await abort(ctx, move, info, 'Pre-migration failed, aborting', 'pre-migrate', accepted.error)
  else tellRemarks(ctx, accepted.payload)

  ctx.log.say(`* migrating instance to ${target.name}`)
  const { cluster_name } = view.config.cluster
  const args = [cluster_name, dict, target.secondary_ip, live] as const
  const started = isSecure
    ? await ctx.nodes.attempt(primary, 'gantry_migration_send', [dict, target.secondary_ip, live])
    : await ctx.nodes.attempt(primary, 'instance_migrate', [...args])
  if (!started.ok) await abort(ctx, move, info, 'Migration failed, aborting', 'migrate', started.error)

  const end = await new Transfer(ctx, move).follow()
  if (end.kind === 'failed') {
    const outcome = end.cancelled ? new JobCancelled() : undefined
    await abort(ctx, move, info, 'Migration failed, aborting', 'migrate', end.reason, outcome)
  } else await arrive(ctx, move, info, end)
}

/** Whether both nodes can use TLS. Ganeti's cannot, nor can older ones of ours. */
async function canEncrypt(ctx: UnitContext, { view, target }: Move): Promise<boolean> {
  if (view.instance.hypervisor !== 'kvm') return false
  const nodes = [view.primary, target]
  const answers = await ctx.nodes.many(nodes, 'gantry_migration_tls', [dictOf(view)])
  const plain = nodes.filter(({ uuid }) => {
    const answer = answers.get(uuid)
    return !(answer?.ok && answer.payload)
  })
  if (plain.length === 0) return true
  const names = plain.map(({ name }) => name).join(' and ')
  ctx.log.info(`The memory is sent without encryption, since TLS is not possible on ${names}`)
  return false
}

/** A job that was killed has left a migration which only goes on from its present state. */
async function isInterrupted(ctx: UnitContext, view: Move['view']): Promise<boolean> {
  if (view.instance.hypervisor !== 'kvm' || (await possibleLocations(ctx, view)).length === 0) return false
  const answer = await migrationStatus(ctx, view, view.primary)
  return answer.ok && answer.payload.switched === true
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
