// The type of what serves the calls of /3. A handler gets what the caller may do, in place of who it is.
import type { CallersCallName, GantryArguments, GantryResult } from '../rpc/luxi/gantry-calls'
import type { Access } from './access/access'

export type CallersHandlers = {
  readonly [N in CallersCallName]: (
    caller: Access,
    ...args: GantryArguments<N>
  ) => GantryResult<N> | Promise<GantryResult<N>>
}
