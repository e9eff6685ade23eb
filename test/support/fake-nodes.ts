// Node clients for tests that decide themselves when nodes answer, and what.
import type { CallName } from '../../src/rpc/node/calls'
import { NodeCallError, type NodeClient, type NodeResult, type NodeTarget } from '../../src/rpc/node/client'

/** What a node answers to a call. */
export type Ask = (target: NodeTarget, call: CallName, args: readonly unknown[]) => Promise<NodeResult<unknown>>

/** A node client that asks a function of the test. */
export function nodesOf(ask: Ask): NodeClient {
  return {
    async one(target, call, args) {
      const result = await ask(target, call, args)
      if (!result.ok) throw new NodeCallError(target.name, call, result.error, result.offline)
      return result.payload as never
    },
    async all(targets, call, args) {
      const answers = targets.map(async (target) => {
        const own = typeof args === 'function' ? args(target) : args
        return [target.uuid, await ask(target, call, own)] as const
      })
      return new Map(await Promise.all(answers)) as never
    },
    close: () => undefined,
  }
}

interface FakeCall {
  readonly node: string
  readonly call: CallName
  readonly args: unknown
  answer(payload: unknown): void
  fail(error: string): void
}

/** A node client whose calls wait until the test answers them. `auto` answers calls at once. */
export function fakeNodes(auto?: (call: CallName, target: NodeTarget) => unknown) {
  const calls: FakeCall[] = []
  const ask: Ask = (target, call, args) =>
    new Promise((resolve) => {
      const answer = (payload: unknown) => resolve({ ok: true, payload })
      const fail = (error: string) => resolve({ ok: false, error, offline: false })
      calls.push({ node: target.name, call, args, answer, fail })
      const reported = auto?.(call, target)
      if (reported !== undefined) answer(reported)
    })
  return { client: nodesOf(ask), calls }
}
