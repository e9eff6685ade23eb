import type { Master } from '../rpc/luxi/calls'
import type { GantryMaster, Identity } from '../rpc/luxi/gantry'
import { CommandFailure } from './command'

/** Whoever reaches the master's socket may do everything, in anybody's name. */
export const administrator = (user: string): Identity => ({ user, token: null, permissions: ['*'] })

/** What the master does beyond Ganeti's calls. */
export function gantryOf({ master }: { readonly master: Master }): GantryMaster {
  if (master.gantry === undefined)
    throw new CommandFailure('This master is not one of Gantry: it knows only Ganeti’s calls')
  return master.gantry
}
