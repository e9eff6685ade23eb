// Removes the key that a node made for a transfer between clusters.
import type { Node } from '../../model/config'
import type { UnitContext } from '../unit-context'

export async function removeKey(ctx: UnitContext, node: Node, name: string): Promise<void> {
  const removed = await ctx.nodes.attempt(node, 'x509_cert_remove', [name])
  if (!removed.ok) ctx.log.warning(`Can't remove X509 key and certificate on ${node.name}: ${removed.error}`)
}
