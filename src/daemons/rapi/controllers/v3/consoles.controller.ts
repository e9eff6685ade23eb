// Requests of /3 about the consoles of instances. The console itself is a websocket (src/daemons/rapi/v3/console-socket.ts).
import { Body, Get, Path, Post, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { badRequest } from '../../../../http/errors'
import { CONSOLE_TICKET_S } from '../../../../model/limits/consoles'
import { ticketBody } from '../../v3/bodies'
import { V3Resource } from './resource'

/** A SPICE screen, which a program such as remote-viewer shows. */
interface SpiceView {
  host: string
  /** @isInt */
  port: number
  /** Whether the port is for TLS. */
  tls: boolean
  /** Whether the screen asks for a password. */
  password: boolean
  /** The certificate (PEM) that signed the screen's certificate. Null for a screen without TLS. */
  ca: string | null
}

/** The consoles that the instance's parameters give it. A running instance may have been started with other parameters. */
export interface ConsolesView {
  instance: string
  /** The node where the instance is now. */
  node: string
  /** The kinds for which a ticket is available. */
  kinds: ('serial' | 'vnc')[]
  spice: SpiceView | null
}

/** The console to open. */
export interface ConsoleTicketRequest {
  kind: 'serial' | 'vnc'
  /** Only shows the console: nothing that is typed, clicked or pasted reaches the instance. */
  read_only?: boolean
}

/** A ticket. It is shown now and never again. */
export interface ConsoleTicket {
  ticket: string
  /** The ticket must be used within this many seconds. @isInt */
  expires_s: number
  /** The address of the websocket, with the ticket. */
  path: string
}

@Route('3/instances')
@Tags('instances')
@Security('basic')
@Security('bearer')
export class ConsolesV3Controller extends V3Resource {
  /**
   * The consoles of an instance.
   * @param name The name of the instance.
   */
  @Get('{name}/consoles')
  async list(@Path() name: string): Promise<ConsolesView> {
    const { kinds, ...view } = await this.v3.gantry.consoles(this.v3.identity, name)
    return { ...view, kinds: [...kinds] }
  }

  /**
   * A ticket for a console. The websocket `/3/instances/{name}/console?ticket=...` accepts it once, from the same user.
   *
   * Text messages of the websocket are JSON objects. `{"type":"connected","stream":S,"node":N}` announces a new connection to the instance.
   * After it, binary messages are the console's output: text for a terminal from a serial line; RFB from its handshake on, without a login,
   * from VNC. `{"type":"waiting","why":W,"node":N,"text":T}` says that there is no connection (`why` is `stopped`, `held` by another
   * program, `refused` or `unreachable`). `{"type":"end","text":T}` is sent before the websocket is closed for good.
   *
   * After `connected`, the client sends the text S. From then on its binary messages are the console's input. The websocket stays open when
   * the instance is migrated, stopped or started.
   * @param name The name of the instance.
   */
  @Post('{name}/console-tickets')
  @SuccessResponse(201, 'Created')
  async ticket(@Path() name: string, @Body() body: ConsoleTicketRequest): Promise<ConsoleTicket> {
    const { identity, gantry, tickets, reply } = this.v3
    const { kind, read_only } = ticketBody.read(body)
    const { instance, kinds } = await gantry.consoles(identity, name)
    if (!kinds.includes(kind))
      throw badRequest(
        kind === 'serial'
          ? `${instance} has no serial console: set its hypervisor parameter serial_console, and restart it`
          : `${instance} has no VNC screen: set its hypervisor parameter vnc_bind_address, and restart it`,
      )
    const ticket = tickets.issue(identity, { instance: name, kind, read_only })
    reply.status = 201
    return {
      ...{ ticket, expires_s: CONSOLE_TICKET_S },
      path: `/3/instances/${encodeURIComponent(name)}/console?ticket=${ticket}`,
    }
  }
}
