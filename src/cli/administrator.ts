// The identity of the command line in calls of /3: an administrator.
import type { Master } from '../rpc/luxi/master'
import type { Identity } from '../rpc/luxi/gantry'
import type { GantryMaster } from '../rpc/luxi/gantry-calls'
import { CommandFailure } from './outcome'

/** A user who reaches the master's socket may do everything, in anybody's name. */
export const administrator = (user: string): Identity => ({ user, token: null, permissions: ['*'] })

/** The master's calls that Ganeti does not have. */
export function gantryOf({ master }: { readonly master: Master }): GantryMaster {
  if (master.gantry === undefined)
    throw new CommandFailure('This master is not one of Gantry: it knows only Ganeti’s calls')
  return master.gantry
}
