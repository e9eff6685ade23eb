// A client of nodes for tests that decide themselves when and what nodes answer.
import type { CallName } from '../../src/rpc/node/calls'
import type { NodeClient, NodeResult, NodeTarget } from '../../src/rpc/node/client'

export interface FakeCall {
  readonly node: string
  readonly call: CallName
  readonly args: unknown
  answer(payload: unknown): void
  fail(error: string): void
}

/** A node client whose calls wait until the test answers them, or are answered by `auto` at once. */
export function fakeNodes(auto?: (call: CallName, target: NodeTarget) => unknown) {
  const calls: FakeCall[] = []
  const ask = (target: NodeTarget, call: CallName, args: unknown): Promise<NodeResult<unknown>> =>
    new Promise((resolve) => {
      const answer = (payload: unknown) => resolve({ ok: true, payload })
      const fail = (error: string) => resolve({ ok: false, error, offline: false })
      calls.push({ node: target.name, call, args, answer, fail })
      const told = auto?.(call, target)
      if (told !== undefined) answer(told)
    })
  const client: NodeClient = {
    one: () => Promise.reject(new Error('not used')),
    async all(targets, call, args) {
      const entries = await Promise.all(
        targets.map(async (target) => {
          const own = typeof args === 'function' ? args(target) : args
          return [target.uuid, await ask(target, call, own)] as const
        }),
      )
      return new Map(entries) as never
    },
    close: () => undefined,
  }
  return { client, calls }
}
