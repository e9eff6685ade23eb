// Calls to nodes in the three ways that units need: as a result to examine, as a value or OpExecError, and to many
// nodes.
import { OpExecError, OpPrereqError, type ErrorCode } from '../model/errors'
import type { ArgsOf, CallName, ResultOf } from '../rpc/node/calls'
import type { NodeResult, NodeTarget } from '../rpc/node/client'
import { UNDO_PATIENCE_S, UNDO_PAUSE_S } from '../model/limits/node-calls'
import type { JobEnvironment } from './environment'

const NO_ANSWER = 'no answer'

export class NodeAccess {
  /** Nodes that did not answer before. */
  private readonly silent = new Set<string>()

  constructor(private readonly env: JobEnvironment) {}

  /** Answers by node uuid; a failing node does not affect the others. */
  many<C extends CallName>(
    nodes: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((node: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<string, NodeResult<ResultOf<C>>>> {
    return this.env.nodes.all(nodes, call, args)
  }

  /** Takes one node's answer out of many. Throws an OpExecError `<what>: <the node's error>` if it failed. */
  raise<T>(results: ReadonlyMap<string, NodeResult<T>>, node: NodeTarget, what: string): T {
    const result = results.get(node.uuid)
    if (result?.ok) return result.payload
    throw new OpExecError(`${what}: ${result?.error ?? NO_ANSWER}`)
  }

  /** One node's answer, whether it worked or not. */
  async attempt<C extends CallName>(node: NodeTarget, call: C, args: ArgsOf<C>): Promise<NodeResult<ResultOf<C>>> {
    const results = await this.env.nodes.all([node], call, args)
    return results.get(node.uuid) ?? { ok: false, error: NO_ANSWER, offline: false }
  }

  /**
   * For undoing changes. A daemon that has just ended is restarted within seconds, so the call is repeated until it works. A node that once
   * did not answer in time is asked only once from then on.
   */
  async persist<C extends CallName>(node: NodeTarget, call: C, args: ArgsOf<C>): Promise<NodeResult<ResultOf<C>>> {
    const { clock } = this.env
    const end_ms = clock.monotonic_ms() + UNDO_PATIENCE_S * 1000
    for (;;) {
      const result = await this.attempt(node, call, args)
      if (result.ok || result.lost !== true || this.silent.has(node.uuid)) return result
      if (clock.monotonic_ms() >= end_ms) {
        this.silent.add(node.uuid)
        return result
      }
      await clock.sleep(UNDO_PAUSE_S * 1000)
    }
  }

  /** The answer, or an OpExecError `<what>: <the node's error>`. */
  async call<C extends CallName>(node: NodeTarget, what: string, call: C, args: ArgsOf<C>): Promise<ResultOf<C>> {
    const result = await this.attempt(node, call, args)
    if (!result.ok) throw new OpExecError(`${what}: ${result.error}`)
    return result.payload
  }

  /** The same for checks of prerequisites. */
  async require<C extends CallName>(
    node: NodeTarget,
    what: string,
    code: ErrorCode,
    call: C,
    args: ArgsOf<C>,
  ): Promise<ResultOf<C>> {
    const result = await this.attempt(node, call, args)
    if (!result.ok) throw new OpPrereqError(`${what}: ${result.error}`, code)
    return result.payload
  }
}
