// Node calls of a live migration, in the order in which the job makes them: source, target, source, both.
import type { InstanceDict, MigrationSideStatus } from '../../rpc/node/dicts'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../failure'
import { forgetGuest, showGuest } from '../metadata'
import { forgetReason, noteReason } from '../reasons'
import { startAlone, startsOver } from '../hypervisor/starts'
import { orFail, toTell } from './instance'

export const instanceMigrationHandlers = {
  async migration_info(context, instance) {
    const info = context.hypervisor(instance.hypervisor).migrationInfo(instance)
    return await orFail('Failed to fetch migration information', info)
  },

  accept_instance: (context, instance, info, target) => acceptInstance(context, instance, info, target, false),
  gantry_migration_accept: (context, instance, info, target) => acceptInstance(context, instance, info, target, true),

  gantry_migration_tls: (context, instance) => context.hypervisor(instance.hypervisor).canEncrypt(instance),

  instance_migrate: (context, _clusterName, instance, target, live) =>
    migrateInstance(context, instance, target, live, false),
  gantry_migration_send: (context, instance, target, live) => migrateInstance(context, instance, target, live, true),

  async instance_get_migration_status(context, instance) {
    const { switched: _, ...status } = await statusOf(context, instance)
    return status
  },
  gantry_migration_status: statusOf,

  async gantry_migration_recover(context, instance, target, side) {
    const work = context.hypervisor(instance.hypervisor).recoverMigration(instance, target, side)
    await orFail('Failed to go on with the migration', work)
    return null
  },

  async gantry_reason(context, instanceName, trail, action) {
    await noteReason(context, instanceName, trail, action)
    return null
  },

  async instance_finalize_migration_dst(context, instance, info, success) {
    await startsOver(context, instance.name)
    const work = context.hypervisor(instance.hypervisor).finalizeTarget(instance, asText(info), success)
    const reason = (await orFail('Failed to finalize migration on the target node', work)) ?? null
    if (!success) await forgetGuest(context, instance.name)
    return reason
  },

  async instance_finalize_migration_src(context, instance, success, live) {
    const work = context.hypervisor(instance.hypervisor).finalizeSource(instance, success, live)
    await orFail('Failed to finalize the migration on the source node', work)
    if (success) {
      await forgetGuest(context, instance.name)
      await forgetReason(context, instance.name)
    }
    return null
  },
} satisfies Partial<Handlers>

async function acceptInstance(
  context: NodeContext,
  instance: InstanceDict,
  info: unknown,
  target: string,
  secure: boolean,
) {
  const work = startAlone(context, instance, async () => {
    await showGuest(context, instance)
    return await context.hypervisor(instance.hypervisor).accept(instance, asText(info), target, secure)
  })
  return toTell(await orFail('Failed to accept instance', work))
}

async function migrateInstance(
  context: NodeContext,
  instance: InstanceDict,
  target: string,
  live: boolean,
  secure: boolean,
): Promise<null> {
  const work = context.hypervisor(instance.hypervisor).migrate(instance, target, live, secure)
  await orFail('Failed to migrate instance', work)
  return null
}

/** A job that never fetched the migration information cannot return it. */
function asText(info: unknown): string {
  if (typeof info === 'string') return info
  if (info === null || info === undefined) return ''
  return fail('The migration information must be a text')
}

async function statusOf(context: NodeContext, instance: InstanceDict): Promise<MigrationSideStatus> {
  const status = context.hypervisor(instance.hypervisor).migrationStatus(instance)
  return await orFail('Failed to get migration status', status)
}
