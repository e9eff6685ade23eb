// Nodes as a question from a person sees them. A check may take long on a node that is at work, but nobody is to wait for one that
// hangs: each node is knocked at before it is asked for the first time, and one that does not even say its version counts as down.
import { type Clock, within } from '../../lib/clock'
import { mapInSlices } from '../../lib/slices'
import type { NodeUuid } from '../../model/ids'
import { LIVE_ANSWER_S } from '../../model/limits/live-data'
import { NODES_ASKED_AT_ONCE } from '../../model/limits/node-calls'
import type { ArgsOf, CallName, ResultOf } from './calls'
import { NO_ANSWER, NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from './client'

/** For one question, however many calls it makes. `knock` finds out whether a node answers; without it, its version is asked for. */
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

  /** True when the node answers or refuses in time. A node that refuses at once will do so for the real call, too, and keeps nobody waiting. */
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
