// Asks several master candidates at once and takes the first answer: one that is down, or lost a datagram, costs no time.
import { createSocket } from 'node:dgram'
import * as net from 'node:net'
import { type Clock, seconds } from '../../lib/clock'
import type { Random } from '../../lib/random'
import { CONFD_ANSWER_S, CONFD_ASKED_MAX } from '../../model/limits/confd'
import { type ConfdQuestion, type ConfdReply, packQuestion, unpackReply } from './protocol'

export interface ConfdOptions {
  /** All of the key's file, its line end too. */
  readonly key: string
  /** Addresses of master candidates. */
  readonly servers: readonly string[]
  readonly port: number
  readonly clock: Clock
  readonly random: Random
}

export class ConfdClient {
  constructor(private readonly options: ConfdOptions) {}

  async ask(question: ConfdQuestion, query: string): Promise<unknown> {
    if (this.options.servers.length === 0) throw new Error('No master candidate is known that could be asked')
    const reply = await this.exchange(question, query)
    if (reply === undefined) throw new Error('No answer from the Confd server')
    if (reply.status !== 0) throw new Error(`Confd server answered with an error: ${JSON.stringify(reply.answer)}`)
    return reply.answer
  }

  private exchange(question: ConfdQuestion, query: string): Promise<ConfdReply | undefined> {
    const { key, servers, port, clock, random } = this.options
    const salt = random.uuid()
    const datagram = packQuestion(key, question, query, seconds(clock), salt)
    const asked = servers.slice(0, CONFD_ASKED_MAX)
    const sockets = [...new Set(asked.map((server) => net.isIP(server)))].map((family) => ({
      family,
      socket: createSocket(family === 6 ? 'udp6' : 'udp4'),
    }))
    return new Promise<ConfdReply | undefined>((resolve) => {
      const end = (reply: ConfdReply | undefined) => {
        late.cancel()
        for (const { socket } of sockets) socket.close()
        resolve(reply)
      }
      const late = clock.after(CONFD_ANSWER_S * 1000, () => end(undefined))
      let ended = false
      for (const { family, socket } of sockets) {
        // A server that cannot be reached is one that does not answer.
        socket.on('error', () => undefined)
        socket.on('message', (bytes) => {
          const reply = ended ? undefined : unpackReply(key, bytes.toString('utf8'), salt)
          if (reply === undefined) return
          ended = true
          end(reply)
        })
        for (const server of asked) if (net.isIP(server) === family) socket.send(datagram, port, server)
      }
    })
  }
}
