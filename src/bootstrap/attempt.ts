// A node call whose failure does not stop the caller.
import { within, type Clock } from '../lib/clock'
import type { ArgsOf, CallName } from '../rpc/node/calls'
import { NodeCallError, type NodeClient, type NodeTarget } from '../rpc/node/client'

/** The reason of the failure; undefined on success. */
export async function attemptCall<C extends CallName>(
  { nodes, clock }: { nodes: NodeClient; clock: Clock },
  limit_s: number,
  target: NodeTarget | undefined,
  call: C,
  args: ArgsOf<C>,
): Promise<string | undefined> {
  if (target === undefined) return 'its address is not known'
  try {
    const answered = nodes.one(target, call, args).then(() => true)
    return (await within(clock, limit_s, answered)) ? undefined : `no answer within ${limit_s} s`
  } catch (error) {
    return error instanceof NodeCallError ? error.reason : String(error)
  }
}
