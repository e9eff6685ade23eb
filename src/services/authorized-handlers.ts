// The type of the handlers of /3's calls. A handler gets the caller's rights instead of its identity.
import type { CallersCallName, GantryArguments, GantryResult } from '../rpc/luxi/gantry-calls'
import type { Access } from './access/access'

export type AuthorizedHandlers = {
  readonly [N in CallersCallName]: (
    caller: Access,
    ...args: GantryArguments<N>
  ) => GantryResult<N> | Promise<GantryResult<N>>
}
