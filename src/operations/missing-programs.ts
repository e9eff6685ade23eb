// Programs of storage, and modules of QEMU, that nodes lack.
import { isObject } from '../lib/shapes/shape'
import type { Cluster, Node } from '../model/config'
import type { UnitContext } from './unit-context'

const MISSING = 'gantry-missing-programs'

interface Lack {
  readonly node: Node
  readonly program: string
  readonly packageName: string
}

/** The first program that a node lacks. Nodes that do not answer are named in the log. Nodes without this check do not answer it. */
export async function firstLack(
  ctx: UnitContext,
  { cluster_name, hvparams }: Cluster,
  hosts: readonly Node[],
  programs: readonly string[],
): Promise<Lack | undefined> {
  if (programs.length === 0) return undefined
  const results = await ctx.nodes.many(hosts, 'node_verify', [{ [MISSING]: programs }, cluster_name, hvparams])
  for (const node of hosts) {
    const result = results.get(node.uuid)
    if (result?.ok !== true) {
      ctx.log.warning(
        `Node ${node.name} could not be asked for ${programs.join(', ')} (ignoring node): ${result?.error ?? 'no answer'}`,
      )
      continue
    }
    const missing = result.payload[MISSING]
    const [first] = isObject(missing) ? Object.entries(missing) : []
    if (first !== undefined) return { node, program: first[0], packageName: String(first[1]) }
  }
  return undefined
}
