// Nodes on which an instance may still run besides its primary: they did not confirm its end. Moves note them in
// gantry.data. Nobody starts the instance before each of them has confirmed, or is marked offline, which means that it
// is off.
import { change } from '../../../config/changes'
import type { Node, NodeUuid } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { hvParamsOf, runtimeOf } from '../checks'
import type { Change, UnitContext } from '../../unit-context'
import type { InstanceView } from '../view'

const SECTION = 'unconfirmed'

/** The uuids of nodes where the instance may still run. */
export async function possibleLocations(ctx: UnitContext, { instance }: InstanceView): Promise<readonly string[]> {
  const noted = (await ctx.config.section(SECTION))[instance.uuid]
  return Array.isArray(noted) ? noted.map(String) : []
}

/** Returns no change if the nodes stay the same. */
export function notePossibleLocations(
  { instance }: InstanceView,
  before: readonly string[],
  after: readonly string[],
): Change[] {
  if (before.join() === after.join()) return []
  return [change('setGantry', SECTION, instance.uuid, after.length === 0 ? null : [...new Set(after)])]
}

export const without = (uuids: readonly string[], node: Node): string[] => uuids.filter((uuid) => uuid !== node.uuid)

/**
 * Refuses a start that could make a second copy of the instance. The caller itself asks the `trusted` nodes. Returns
 * the change that removes nodes which have confirmed by now.
 */
export async function checkRunsNowhereElse(
  ctx: UnitContext,
  view: InstanceView,
  trusted: readonly NodeUuid[] = [view.primary.uuid],
): Promise<Change[]> {
  const noted = await possibleLocations(ctx, view)
  if (noted.length === 0) return []
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  const found = noted.flatMap((uuid) => Object.values(nodes).find((node) => node.uuid === uuid) ?? [])
  const requested = found.filter(({ uuid, offline }) => !offline && !trusted.includes(uuid))
  for (const node of requested) await checkDoesNotRunOn(ctx, view, node)
  const left = found.filter((node) => !requested.includes(node)).map(({ uuid }) => uuid)
  return notePossibleLocations(view, noted, left)
}

/** The same, but asks every node except its primary. */
export async function checkRunsNowhere(ctx: UnitContext, view: InstanceView): Promise<Change[]> {
  const noted = await possibleLocations(ctx, view)
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  const requested = Object.values(nodes).filter((node) => !node.offline && node.uuid !== view.primary.uuid)
  for (const node of requested) await checkDoesNotRunOn(ctx, view, node)
  return notePossibleLocations(view, noted, [])
}

async function checkDoesNotRunOn(ctx: UnitContext, view: InstanceView, node: Node): Promise<void> {
  const { name, hypervisor } = view.instance
  const answer = await ctx.nodes.attempt(node, 'instance_info', [name, hypervisor, hvParamsOf(view)])
  if (!answer.ok)
    throw new OpPrereqError(
      `Instance ${name} may still run on node ${node.name}, which does not tell (${answer.error}); once that node is switched off, ` +
        `"gnt-node modify --offline yes ${node.name}" says so`,
      ECODE.STATE,
    )
  if (runtimeOf(answer.payload) === undefined) return
  throw new OpPrereqError(
    `Instance ${name} still runs on node ${node.name}, which is not its primary node; "gnt-instance migrate --cleanup ${name}" makes ` +
      'it its primary node',
    ECODE.STATE,
  )
}
