// Calls to nodes in the three ways units need them: as a result to look at, as a value or an OpExecError, and to many nodes.
import { OpExecError, OpPrereqError, type ErrorCode } from '../model/errors'
import type { ArgsOf, CallName, ResultOf } from '../rpc/node/calls'
import type { NodeResult, NodeTarget } from '../rpc/node/client'
import type { JobEnvironment } from './environment'

const NO_ANSWER = 'no answer'

export class NodeAccess {
  constructor(private readonly env: JobEnvironment) {}

  /** Answers per node uuid; a node that fails does not make the others fail. */
  many<C extends CallName>(
    nodes: readonly NodeTarget[],
    call: C,
    args: ArgsOf<C> | ((node: NodeTarget) => ArgsOf<C>),
  ): Promise<Map<string, NodeResult<ResultOf<C>>>> {
    return this.env.nodes.all(nodes, call, args)
  }

  /** Picks one node's answer from many. Throws an OpExecError `<what>: <the node's error>` if it failed. */
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

  /** The answer, or an OpExecError `<what>: <the node's error>`. */
  async call<C extends CallName>(node: NodeTarget, what: string, call: C, args: ArgsOf<C>): Promise<ResultOf<C>> {
    const result = await this.attempt(node, call, args)
    if (!result.ok) throw new OpExecError(`${what}: ${result.error}`)
    return result.payload
  }

  /** The same while prerequisites are checked. */
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
