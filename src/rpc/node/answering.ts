// Nodes for a person's question. A check on a busy node may take long, but must not wait for a node that hangs. So each
// node is first asked for its version, and counts as down if it does not answer that.
import { type Clock, within } from '../../lib/clock'
import { mapInSlices } from '../../lib/work/slices'
import type { NodeUuid } from '../../model/ids'
import { LIVE_ANSWER_S } from '../../model/limits/live-data'
import { NODES_ASKED_AT_ONCE } from '../../model/limits/node-calls'
import type { ArgsOf, CallName, ResultOf } from './calls'
import { NO_ANSWER, NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from './client'

/**
 * For one question, with any number of calls. `knock` finds out whether a node answers; by default it asks for the
 * version.
 */
export function answeringNodes(
  client: NodeClient,
  clock: Clock,
  knock?: (target: NodeTarget) => Promise<boolean>,
): NodeClient {
  const knocks = new Map<NodeUuid, Promise<boolean>>()
  const comes = knock ?? saysVersion

  function answers(target: NodeTarget): Promise<boolean> {
    let answer = knocks.get(target.uuid)
    if (answer === undefined) knocks.set(target.uuid, (answer = target.offline ? Promise.resolve(true) : comes(target)))
    return answer
  }

  /**
   * True if the node answers or refuses in time. A node that refuses at once will also refuse the real call at once.
   */
  async function saysVersion(target: NodeTarget): Promise<boolean> {
    return (await within(clock, LIVE_ANSWER_S, client.all([target], 'version', []))) !== undefined
  }

  async function all<C extends CallName>(
    targets: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((target: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<NodeUuid, NodeResult<ResultOf<C>>>> {
    const knocked = await mapInSlices(targets, NODES_ASKED_AT_ONCE, async (target) =>
      (await answers(target)) ? [target] : [],
    )
    const there = (await Promise.all(knocked)).flat()
    const results = await client.all(there, call, args)
    return new Map(targets.map(({ uuid }) => [uuid, results.get(uuid) ?? NO_ANSWER]))
  }

  return {
    all,
    async one(target, call, args) {
      const result = (await all([target], call, args)).get(target.uuid) ?? NO_ANSWER
      if (result.ok) return result.payload
      throw new NodeCallError(target.name, call, result.error, result.offline)
    },
    close: () => client.close(),
  }
}
