// The type of what a simulated node answers with.
import type { ArgsOf, CallName, ResultOf } from '../../rpc/node/calls'
import type { SimContext } from './world'

export type SimHandlers = {
  readonly [C in CallName]?: (sim: SimContext, ...args: ArgsOf<C>) => ResultOf<C> | Promise<ResultOf<C>>
}
