// How far a migration is, as one of its nodes tells. Nodes with Ganeti, or an older version of ours, do not tell whether the source has switched.
import type { Node } from '../../../model/node'
import { isUnknownThere, type NodeResult } from '../../../rpc/node/client'
import type { MigrationSideStatus } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import { dictOf } from '../view'
import type { Move } from './plan'

export async function migrationStatus(
  ctx: UnitContext,
  view: Move['view'],
  node: Node,
): Promise<NodeResult<MigrationSideStatus>> {
  const reported = await ctx.nodes.attempt(node, 'gantry_migration_status', [dictOf(view)])
  return isUnknownThere(reported)
    ? await ctx.nodes.attempt(node, 'instance_get_migration_status', [dictOf(view)])
    : reported
}
