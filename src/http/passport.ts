// Who a caller is, by strategies of passport.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Passport, Strategy, type StrategyCreated } from 'passport'
import { errorText } from '../lib/system-failure'
import type { Middleware } from './application'

/** Undefined if the request has no login of this kind. Throws if the login is wrong, and may wait before that. */
export type Verify<Caller> = (request: IncomingMessage) => Promise<Caller> | Caller | undefined

/** One kind of login. */
export class LoginStrategy<Caller extends object> extends Strategy {
  constructor(
    override readonly name: string,
    readonly verify: Verify<Caller>,
  ) {
    super()
  }

  /** A wrong login is an error, so no other strategy is asked, and the API says what was wrong. */
  override authenticate(this: StrategyCreated<this>, request: IncomingMessage): void {
    try {
      const caller = this.verify(request)
      if (caller === undefined) return this.fail()
      if (caller instanceof Promise) caller.then(this.success, this.error)
      else this.success(caller)
    } catch (error) {
      this.error(error)
    }
  }
}

/** Asked last. */
class NoLogin extends Strategy {
  override readonly name = 'no login'
  override authenticate(this: StrategyCreated<this>): void {
    this.pass()
  }
}

/** Resolves to undefined if the request has no login. */
export type Identify<Caller> = (request: IncomingMessage, response: ServerResponse) => Promise<Caller | undefined>

/** Asks the strategies in this order. */
export function identifyBy<Caller extends object>(strategies: readonly LoginStrategy<Caller>[]): Identify<Caller> {
  const passport = new Passport()
  const all = [...strategies, new NoLogin()]
  for (const strategy of all) passport.use(strategy)
  const authenticate: Middleware = passport.authenticate(
    all.map(({ name }) => name),
    { session: false, assignProperty: 'caller', authInfo: false },
  )
  return (request: IncomingMessage & { caller?: Caller }, response) =>
    new Promise((resolve, reject) => {
      authenticate(request, response, (error) => {
        if (error === undefined || error === null) resolve(request.caller)
        else reject(error instanceof Error ? error : new Error(errorText(error)))
      })
    })
}
