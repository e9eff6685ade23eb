// Requests of /3 about the consoles of instances. The console itself is a websocket (src/daemons/rapi/v3/console-socket.ts).
import { Body, Get, Path, Post, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { badRequest } from '../../../../http/errors'
import { CONSOLE_TICKET_S } from '../../../../model/limits/consoles'
import { ticketBody } from '../../v3/bodies'
import { V3Resource } from './resource'

/** A screen of SPICE, which a program such as remote-viewer shows. */
export interface SpiceView {
  host: string
  /** @isInt */
  port: number
  /** Whether the port is for TLS. */
  tls: boolean
  /** Whether it asks for a password. */
  password: boolean
  /** The certificate (PEM) that has signed the screen's; null for one without TLS. */
  ca: string | null
}

/** The consoles that an instance has by its parameters. One that runs may have been started with others. */
export interface ConsolesView {
  instance: string
  /** Where it is now. */
  node: string
  /** Those that a ticket is given for. */
  kinds: ('serial' | 'vnc')[]
  spice: SpiceView | null
}

/** The console that is to be opened. */
export interface ConsoleTicketRequest {
  kind: 'serial' | 'vnc'
  /** Shows it only: nothing that is typed, pointed or pasted reaches the instance. */
  read_only?: boolean
}

/** A ticket. It is told now and never again. */
export interface ConsoleTicket {
  ticket: string
  /** Seconds within which it must be used. @isInt */
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
   * A ticket for a console, which the websocket `/3/instances/{name}/console?ticket=...` takes once, from the same user. There, text
   * messages are JSON objects: `{"type":"connected","stream":S,"node":N}` when a connection to the instance begins, after which binary
   * messages are what it says (of a serial line: text for a terminal; of VNC: RFB from its handshake on, without a login);
   * `{"type":"waiting","why":W,"node":N,"text":T}` while there is none (`why` is `stopped`, `held` by another program, `refused` or
   * `unreachable`); `{"type":"end","text":T}` before it is closed for good. The client sends the text S when it has seen `connected`; then
   * its binary messages are typed. It stays open when the instance is migrated, stopped or started.
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
