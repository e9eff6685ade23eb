// The type of a simulated node's handlers.
import type { ArgsOf, CallName, ResultOf } from '../../rpc/node/calls'
import type { SimContext } from './world'

export type SimHandlers = {
  readonly [C in CallName]?: (sim: SimContext, ...args: ArgsOf<C>) => ResultOf<C> | Promise<ResultOf<C>>
}
