// Node calls of a live migration, in the order in which the job makes them: source, target, source, both.
import type { Handlers } from '../context'
import { fail } from '../failure'
import { forgetGuest, showGuest } from '../metadata'
import { forgetReason } from '../reasons'
import { startAlone, startsOver } from '../hypervisor/starts'
import { orFail, toTell } from './instance'

export const instanceMigrationHandlers = {
  async migration_info(context, instance) {
    const info = context.hypervisor(instance.hypervisor).migrationInfo(instance)
    return await orFail('Failed to fetch migration information', info)
  },

  async accept_instance(context, instance, info, target) {
    const work = startAlone(context, instance, async () => {
      await showGuest(context, instance)
      return await context.hypervisor(instance.hypervisor).accept(instance, asText(info), target)
    })
    return toTell(await orFail('Failed to accept instance', work))
  },

  async instance_migrate(context, _clusterName, instance, target, live) {
    const work = context.hypervisor(instance.hypervisor).migrate(instance, target, live)
    await orFail('Failed to migrate instance', work)
    return null
  },

  async instance_get_migration_status(context, instance) {
    const status = context.hypervisor(instance.hypervisor).migrationStatus(instance)
    return await orFail('Failed to get migration status', status)
  },

  async gantry_migration_recover(context, instance, target, side) {
    const work = context.hypervisor(instance.hypervisor).recoverMigration(instance, target, side)
    await orFail('Failed to go on with the migration', work)
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

/** A job that never fetched the migration information cannot return it. */
function asText(info: unknown): string {
  if (typeof info === 'string') return info
  if (info === null || info === undefined) return ''
  return fail('The migration information must be a text')
}
