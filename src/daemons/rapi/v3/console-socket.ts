// The websocket of a console. Its messages are luxid's. This file checks again and again that the session, token or
// user is still good.
import type { Duplex } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { type Route, WEBSOCKET } from '../../../http/dispatch'
import { HttpError, tooMany } from '../../../http/errors'
import type { Talk } from '../../../http/websockets'
import type { Clock } from '../../../lib/clock'
import type { Log } from '../../../lib/log'
import { Quota } from '../../../lib/net/quota'
import { CONSOLE_CHECK_S, CONSOLES_MAX, CONSOLES_PER_USER_MAX } from '../../../model/limits/consoles'
import { RETRY_AFTER_S } from '../../../model/limits/http'
import type { ConsoleMessage, ConsoleTalk } from '../../../rpc/luxi/consoles'
import { V3Resource } from '../controllers/v3/resource'
import type { RapiContext } from '../context'
import { problemOf } from './problem'
import type { Caller } from './sessions'

const open = new Quota({ all: CONSOLES_MAX, each: CONSOLES_PER_USER_MAX })

class ConsoleController extends V3Resource {
  async open(name: string, ticket = ''): Promise<Talk> {
    const { caller, identity, gantry, tickets } = this.v3
    const { clock, log } = this.context.services
    const request = tickets.use(identity, name, ticket)
    refuseBeyond(identity.user)
    // Refused before the websocket exists, if the reason is already known.
    await gantry.consoles(identity, name)
    return async (messages) => {
      const leave = open.take(identity.user)
      try {
        await watched(messages, await gantry.console(identity, request), { caller, clock, log })
      } finally {
        leave()
      }
    }
  }
}

/** OpenAPI has no websockets, so their routes are written by hand. */
export const consoleRoute: Route<RapiContext> = {
  ...{
    verb: WEBSOCKET,
    path: '/3/instances/:name/console',
    controller: ConsoleController,
    action: 'open',
    security: [],
  },
  args: [
    { in: 'path', name: 'name', dataType: 'string' },
    { in: 'query', name: 'ticket', dataType: 'string' },
  ],
}

function refuseBeyond(user: string): void {
  const full = open.full(user)
  if (full === 'each')
    throw tooMany(`The user ${user} has ${CONSOLES_PER_USER_MAX} consoles open already; close some`, RETRY_AFTER_S)
  if (full === 'all') throw new HttpError(503, `${CONSOLES_MAX} consoles are open already`)
}

interface Watched {
  readonly caller: Caller
  readonly clock: Clock
  readonly log: Log
}

async function watched(messages: Duplex, talk: ConsoleTalk, { caller, clock, log }: Watched): Promise<void> {
  const end = (error: unknown) => {
    if (messages.destroyed || messages.writableEnded) return
    const over: ConsoleMessage = { type: 'end', text: problemOf(error, log).detail }
    messages.end(JSON.stringify(over))
  }
  const look = async () => {
    const now = await caller.again()
    if (!isDeepStrictEqual(now, caller.identity))
      throw new HttpError(403, 'The rights of the user have changed; open the console again')
  }
  const lookSoon = () =>
    clock.after(CONSOLE_CHECK_S * 1000, () => void look().then(() => (timer = lookSoon()), end), { background: true })
  let timer = lookSoon()
  try {
    await talk(messages)
  } catch (error) {
    // Either end may leave at any time. If the master refused or was not reached, the error says why.
    if (!isBrokenOff(error)) end(error)
  } finally {
    timer.cancel()
  }
}

const isBrokenOff = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_STREAM')
