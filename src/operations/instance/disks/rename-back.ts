// Undoes the renaming of volumes, even if the answer to the renaming got lost.
import type { LogicalId } from '../../../model/config'
import type { NodeResult, NodeTarget } from '../../../rpc/node/client'
import type { DiskDict } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'

/** Pairs of new and old name. A volume without its new name still has the old one. */
export async function renameBack(
  ctx: UnitContext,
  node: NodeTarget,
  pairs: readonly (readonly [DiskDict, LogicalId])[],
): Promise<NodeResult<unknown>> {
  for (const [volume, old] of pairs) {
    const found = await ctx.nodes.persist(node, 'blockdev_find', [volume])
    if (!found.ok) return found
    if (found.payload === null) continue
    const renamed = await ctx.nodes.persist(node, 'blockdev_rename', [[[volume, old]]])
    if (renamed.ok) continue
    // If an answer got lost, the renaming was repeated, which fails.
    const left = await ctx.nodes.persist(node, 'blockdev_find', [volume])
    if (!left.ok || left.payload !== null) return renamed
  }
  return { ok: true, payload: null }
}
