// Asks nodes for checks of themselves.
import type { ConfigData, Node } from '../../../model/config'
import { isObject } from '../../../lib/shapes/shape'
import type { UnitContext } from '../../unit-context'
import type { NodeImage } from './group-state'

export async function askNodes(
  ctx: UnitContext,
  { cluster }: ConfigData,
  nodes: readonly Node[],
  checks: Readonly<Record<string, unknown>>,
): Promise<NodeImage[]> {
  const results = await ctx.nodes.many(nodes, 'node_verify', [checks, cluster.cluster_name, cluster.hvparams])
  return nodes.map((node) => {
    const result = results.get(node.uuid) ?? { ok: false, error: 'no answer', offline: false }
    const answer = result.ok ? result.payload : {}
    const list = answer['instancelist']
    const volumes = answer['lvlist']
    return {
      ...{ node, result, answer, running: isTexts(list) ? list : undefined },
      volumes: isObject(volumes) ? sizesOf(volumes) : undefined,
    }
  })
}

/** A volume comes with its size as LVM writes it, and more. */
function sizesOf(volumes: Readonly<Record<string, unknown>>): ReadonlyMap<string, number | undefined> {
  const size_mib = (reported: unknown) => Number(Array.isArray(reported) ? reported[0] : undefined)
  return new Map(Object.entries(volumes).map(([name, reported]) => [name, size_mib(reported) || undefined]))
}

export const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
