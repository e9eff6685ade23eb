// Tickets for consoles. A websocket cannot show a session's token, so its address contains a ticket, which the client
// requested a moment before. A ticket is valid once, for one console and one caller. Tickets are only in memory.
import { createHash } from 'node:crypto'
import { HttpError, tooMany } from '../../../http/errors'
import type { Clock } from '../../../lib/clock'
import type { Random } from '../../../lib/random'
import { Quota } from '../../../lib/net/quota'
import { CONSOLE_TICKET_S, CONSOLE_TICKETS_MAX, CONSOLE_TICKETS_PER_USER_MAX } from '../../../model/limits/consoles'
import { RETRY_AFTER_S } from '../../../model/limits/http'
import type { ConsoleRequest } from '../../../rpc/luxi/consoles'
import type { Identity } from '../../../rpc/luxi/gantry'

interface Waiting {
  readonly request: ConsoleRequest
  readonly user: string
  readonly token: string | null
  readonly until_ms: number
  readonly leave: () => void
}

export class ConsoleTickets {
  /** By a digest of the ticket, oldest first. */
  private readonly waiting = new Map<string, Waiting>()
  private readonly shares = new Quota({ all: CONSOLE_TICKETS_MAX, each: CONSOLE_TICKETS_PER_USER_MAX })

  constructor(private readonly surroundings: { readonly clock: Clock; readonly random: Random }) {}

  issue({ user, token }: Identity, request: ConsoleRequest): string {
    const { clock, random } = this.surroundings
    this.forgetOld()
    const full = this.shares.full(user)
    if (full === 'each')
      throw tooMany(
        `The user ${user} has ${CONSOLE_TICKETS_PER_USER_MAX} tickets for consoles that were not used`,
        CONSOLE_TICKET_S,
      )
    if (full === 'all')
      throw new HttpError(503, `${CONSOLE_TICKETS_MAX} tickets for consoles are waiting`, RETRY_AFTER_S)
    const ticket = random.hex(32)
    const until_ms = clock.monotonic_ms() + CONSOLE_TICKET_S * 1000
    this.waiting.set(digestOf(ticket), { request, user, token, until_ms, leave: this.shares.take(user) })
    return ticket
  }

  /**
   * Uses up the ticket, whoever presents it. So a ticket that a stranger has seen is worthless. Throws if the ticket is not for this caller
   * and instance.
   */
  use({ user, token }: Identity, instance: string, ticket: string): ConsoleRequest {
    this.forgetOld()
    const found = this.waiting.get(digestOf(ticket))
    this.forget(digestOf(ticket))
    if (found === undefined || found.user !== user || found.token !== token || found.request.instance !== instance)
      throw new HttpError(
        403,
        `The ticket is not valid: it is valid once, within ${CONSOLE_TICKET_S} s, for the caller that requested it and for one instance; ` +
          `request another one with POST /3/instances/{name}/console-tickets`,
      )
    return found.request
  }

  private forgetOld(): void {
    const now_ms = this.surroundings.clock.monotonic_ms()
    for (const [digest, { until_ms }] of this.waiting) if (until_ms <= now_ms) this.forget(digest)
  }

  private forget(digest: string): void {
    this.waiting.get(digest)?.leave()
    this.waiting.delete(digest)
  }
}

const digestOf = (ticket: string): string => createHash('sha256').update(ticket).digest('base64')
