// Connections of servers by the client that made them, so that no client takes the room of all others.
import type { Server, Socket } from 'node:net'
import { addressGroup } from './address-group'
import type { Clock } from './clock'
import { CountedLog } from './counted-log'
import type { Log } from './log'
import type { Shares } from './shares'

export interface CrowdOptions {
  /** Connections that are open, and those among them whose handshake is under way. */
  readonly open: Shares
  readonly handshakes: Shares
  /** From so many connections of a client on, it is told so on each further one. */
  readonly enough?: (client: string) => number
  readonly clock: Clock
  readonly log: Log
  readonly every_s: number
}

export class Crowd {
  /** How a handshake is over, by addresses and port: a connection and its TLS socket do not know each other. */
  private readonly shaking = new Map<string, () => void>()
  private readonly beyond = new WeakSet<Socket>()
  private readonly refused: CountedLog

  constructor(private readonly options: CrowdOptions) {
    this.refused = new CountedLog(options, 'connection refused: too many')
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.enter(socket, typeof server.address() === 'string'))
    // Without TLS there is no handshake to wait for.
    const whole = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(whole, (socket: Socket) => {
      this.shaken(keyOf(socket))
      const client = clientOf(socket)
      const { open, enough } = this.options
      if (enough !== undefined && open.of(client) > enough(client)) this.beyond.add(socket)
    })
  }

  /** Whether its client had enough connections when it made this one. */
  isBeyond(socket: Socket): boolean {
    return this.beyond.has(socket)
  }

  /** Nobody who comes over a Unix socket has an address: they count as one client. */
  private enter(socket: Socket, overUnixSocket: boolean): void {
    const { open, handshakes } = this.options
    // It has left before it was looked at. The system does not tell its port any more, so that it could not be told from others.
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
