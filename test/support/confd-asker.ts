// Asks a confd as its clients do. It finds out without waiting which questions confd does not answer: when a good question behind them is
// answered, they have been read.
import { type Socket, createSocket } from 'node:dgram'
import { sha1Hmac } from '../../src/lib/hmac'

/** All askers share one count, because confd takes the second of two equal questions for a replay. */
let count = 0

export class ConfdAsker {
  private readonly socket: Socket = createSocket('udp4')
  private heard: Buffer[] = []
  /** The difference between its clock and the right time. */
  away_s = 0
  /** Called for each datagram that arrives. */
  private told: () => void = () => undefined

  constructor(
    readonly key: string,
    readonly address: string,
    readonly port: number,
  ) {
    this.socket.on('message', (bytes) => {
      this.heard.push(bytes)
      this.told()
    })
  }

  /** Sends the datagrams and returns the answers, which may be none. */
  async exchange(...datagrams: readonly (string | Buffer)[]): Promise<string[]> {
    const last = `last-${++count}`
    for (const datagram of datagrams) await this.send(datagram)
    await this.send(signed(this.key, { protocol: 1, type: 0, query: null, rsalt: last }, this.away_s))
    const isLast = (bytes: Buffer) => bytes.includes(`"salt":"${last}"`)
    await new Promise<void>((resolve) => {
      this.told = () => void (this.heard.some(isLast) && resolve())
      this.told()
    })
    return this.heard
      .splice(0)
      .filter((bytes) => !isLast(bytes))
      .map((bytes) => bytes.toString('utf8'))
  }

  /** The message inside the answer. */
  async ask(type: number, query?: unknown, rest: object = {}): Promise<unknown> {
    const message = { protocol: 1, type, ...(query !== undefined && { query }), rsalt: 'salt', ...rest }
    const [answer] = await this.exchange(signed(this.key, message))
    return answer === undefined ? undefined : messageOf(answer)
  }

  close(): void {
    this.socket.close()
  }

  private send(datagram: string | Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.socket.send(datagram, this.port, this.address, (error) => (error ? reject(error) : resolve()))
    })
  }
}

/** Signs as Ganeti's Python client does. `away_s` is the difference between its clock and the right time. */
export function signed(key: string, message: unknown, away_s = 0, magic = 'plj0'): string {
  const msg = typeof message === 'string' ? message : `${JSON.stringify(message)}\n`
  const salt = String(Math.floor(Date.now() / 1000) + away_s)
  return `${magic}${JSON.stringify({ msg, salt, hmac: sha1Hmac(key, msg, salt) })}\n`
}

export const messageOf = (datagram: string): unknown =>
  JSON.parse((JSON.parse(datagram.slice(4)) as { msg: string }).msg)
