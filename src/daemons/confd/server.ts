// The socket of confd: signed questions in, signed answers out. It knows what is kept, and nothing that changes it. Whoever does not know
// the cluster's key hears nothing, not even that there is a daemon.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import * as net from 'node:net'
import { type Clock, seconds } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { OwnFigures } from '../../lib/own-figures'
import { errorText } from '../../lib/system-failure'
import type { ConfigData, GantryData } from '../../model/config'
import {
  CONFD_ANSWER_BYTES_MAX,
  CONFD_ANSWERS_KEPT,
  CONFD_KEPT_ANSWER_CHARS,
  CONFD_QUEUE_BYTES,
} from '../../model/limits/confd'
import { type ConfdReply, type ConfdRequest, packReply, unpackQuestion } from '../../rpc/confd/protocol'
import { answerTo, refused } from './answers'
import { ConfigView } from './config-view'
import { Replays } from './replays'

export interface ConfdOptions {
  readonly address: string
  readonly port: number
  readonly clock: Clock
  readonly log: Log
  /** All of the key's file, its line end too; empty while there is none. */
  key(): string
  /** Undefined while there is none that can be read. */
  config(): ConfigData | undefined
  /** The part of gantry.data that may be told. */
  gantry?(): Pick<GantryData, 'sections'>
}

export interface Confd {
  readonly port: number
  close(): Promise<void>
  tell(): OwnFigures
}

export async function startConfd(options: ConfdOptions): Promise<Confd> {
  const { address, port, log } = options
  const family = net.isIP(address) === 6 ? 6 : 4
  const socket = createSocket({
    ...{ type: `udp${family}` as const, recvBufferSize: CONFD_QUEUE_BYTES },
    // Answers go to addresses, so there is no name to look up.
    lookup: (host, _, done) => done(null, host, family),
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.bind(port, address, resolve)
  })
  socket.removeAllListeners('error')
  socket.on('error', (error) => log.error({ reason: errorText(error) }, 'the socket failed'))
  const answering = new Answering(options)
  socket.on('message', (bytes, from) => answering.hear(socket, bytes, from))
  return {
    port: socket.address().port,
    tell: () => ({ answers: answering.given }),
    close: () => new Promise((resolve) => socket.close(resolve)),
  }
}

type Packed = ConfdReply & { readonly answer: string }

class Answering {
  private view: ConfigView | undefined
  /** The answers since the configuration changed, by their questions. */
  private readonly answers = new Map<string, Packed>()
  private readonly replays = new Replays()
  /** Answers since the start. */
  given = 0

  constructor(private readonly options: ConfdOptions) {}

  hear(socket: Socket, bytes: Buffer, { address, port }: RemoteInfo): void {
    const { clock } = this.options
    const key = this.options.key()
    if (key === '' || port === 0) return
    const request = unpackQuestion(key, bytes, seconds(clock))
    if (request === undefined || this.replays.isReplay(request.hmac, `${address} ${port}`)) return
    this.given++
    socket.send(this.reply(key, request), port, address, this.sent)
  }

  /** Who asked may be gone, or out of reach: then nobody waits for the answer. The error names the address. */
  private readonly sent = (error: Error | null): void => {
    if (error !== null) this.options.log.debug({ reason: errorText(error) }, 'an answer was not sent')
  }

  private reply(key: string, request: ConfdRequest): Buffer {
    const bytes = Buffer.from(packReply(key, request.salt, this.answer(request)))
    if (bytes.length <= CONFD_ANSWER_BYTES_MAX) return bytes
    const text = `The answer has ${bytes.length} bytes, and a datagram has room for ${CONFD_ANSWER_BYTES_MAX}: ask for a part of it`
    return Buffer.from(packReply(key, request.salt, packed(refused(text))))
  }

  private answer(request: ConfdRequest): Packed {
    const config = this.options.config()
    if (config === undefined) return packed(refused('Cannot load configuration'))
    if (this.view?.config !== config) {
      this.view = new ConfigView(config, this.options.gantry?.())
      this.answers.clear()
    }
    const name = `${request.question} ${JSON.stringify(request.query)}`
    const kept = this.answers.get(name)
    if (kept !== undefined) return kept
    const made = packed(answerTo(this.view, request))
    if (this.answers.size < CONFD_ANSWERS_KEPT && made.answer.length + name.length <= CONFD_KEPT_ANSWER_CHARS)
      this.answers.set(name, made)
    return made
  }
}

const packed = (reply: ConfdReply): Packed => ({ ...reply, answer: JSON.stringify(reply.answer) })
