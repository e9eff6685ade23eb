// What the controllers of this door get.
import type { Identity } from '../../rpc/luxi/gantry'
import type { GantryMaster } from '../../rpc/luxi/gantry-calls'
import { HttpError } from '../../http/errors'
import type { Reply } from '../../http/json-api'
import type { MaintenanceView } from '../../model/maintenance'

export class MaintdContext {
  readonly reply: Reply = { status: 200, headers: {} }

  constructor(
    /** The view that this daemon follows. */
    readonly view: () => MaintenanceView,
    readonly gantry: GantryMaster,
    private readonly caller: Identity | undefined,
  ) {}

  /** The caller of a change, which must log in. */
  get identity(): Identity {
    if (this.caller === undefined) throw new HttpError(401, 'Log in with a password or a token')
    return this.caller
  }
}
