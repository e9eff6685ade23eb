// Counts the connections of servers by client, so that no client takes the room of all others.
import type { Server, Socket } from 'node:net'
import { addressGroup } from './address-group'
import type { Clock } from '../clock'
import { CountedLog } from '../counted-log'
import type { Log } from '../log'
import type { Quota } from './quota'

export interface ConnectionLimiterOptions {
  /** Open connections, and those of them with an unfinished handshake. */
  readonly open: Quota
  readonly handshakes: Quota
  /** A client's limit. Further connections are marked: see `isBeyond`. */
  readonly enough?: (client: string) => number
  readonly clock: Clock
  readonly log: Log
  readonly every_s: number
}

export class ConnectionLimiter {
  /**
   * What to do at the end of a handshake, by addresses and port: a connection and its TLS socket do not know each
   * other.
   */
  private readonly shaking = new Map<string, () => void>()
  private readonly beyond = new WeakSet<Socket>()
  private readonly refused: CountedLog

  constructor(private readonly options: ConnectionLimiterOptions) {
    this.refused = new CountedLog(options, 'connection refused: too many')
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.enter(socket, typeof server.address() === 'string'))
    // Without TLS there is no handshake.
    const whole = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(whole, (socket: Socket) => {
      this.shaken(keyOf(socket))
      const client = clientOf(socket)
      const { open, enough } = this.options
      if (enough !== undefined && open.of(client) > enough(client)) this.beyond.add(socket)
    })
  }

  /** Whether its client already had enough connections before this one. */
  isBeyond(socket: Socket): boolean {
    return this.beyond.has(socket)
  }

  /** Clients on a Unix socket have no address, so they all count as one. */
  private enter(socket: Socket, overUnixSocket: boolean): void {
    const { open, handshakes } = this.options
    // It closed before we looked at it. Its port is unknown now, so we cannot tell it from others.
    if (socket.remoteAddress === undefined && !overUnixSocket) return void socket.destroy()
    const client = clientOf(socket)
    const key = keyOf(socket)
    if (open.full(client) !== undefined || handshakes.full(client) !== undefined) {
      this.refused.add(client, {})
      return void socket.destroy()
    }
    const leave = open.take(client)
    this.shaking.set(key, handshakes.take(client))
    socket.once('close', () => {
      leave()
      this.shaken(key)
    })
  }

  private shaken(key: string): void {
    const over = this.shaking.get(key)
    this.shaking.delete(key)
    over?.()
  }
}

export const clientOf = ({ remoteAddress = 'unknown' }: Socket): string => addressGroup(remoteAddress)

const keyOf = ({ remoteAddress, remotePort, localAddress }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress}`
