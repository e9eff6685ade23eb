// What the application of this door gets, and what its controllers get.
import type { Identity } from '../../rpc/luxi/gantry'
import type { GantryMaster } from '../../rpc/luxi/gantry-calls'
import type { AccessLogOptions } from '../../http/access-log'
import { HttpError } from '../../http/errors'
import type { Reply } from '../../http/json-api'
import type { LoginStrategy } from '../../http/passport'
import type { Problem } from '../../http/problem'
import type { MaintenanceLoopMetrics } from '../../maintenance/loop'
import type { MaintenanceView } from '../../model/maintenance'

export interface MaintdServices extends AccessLogOptions {
  readonly gantry: GantryMaster
  readonly figures: MaintenanceLoopMetrics
  view(): MaintenanceView
  /** How callers may log in; who only reads need not. */
  readonly logins: readonly LoginStrategy<{ readonly identity: Identity }>[]
  problemOf(error: unknown): Problem
  /** How to log in. */
  readonly challenge: string
}

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
