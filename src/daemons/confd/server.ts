// confd's socket: signed questions in, signed answers out. It only reads. A sender without the cluster's key gets no
// reply at all, and cannot even detect the daemon.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import * as net from 'node:net'
import { ConfigQuestions } from '../../config/questions'
import { type Clock, seconds } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { SelfMetrics } from '../../lib/self-metrics'
import { errorText } from '../../lib/system-failure'
import type { ConfigData, GantryData } from '../../model/config'
import {
  CONFD_ANSWER_BYTES_MAX,
  CONFD_ANSWERS_KEPT,
  CONFD_KEPT_ANSWER_CHARS,
  CONFD_QUEUE_BYTES,
} from '../../model/limits/confd'
import { type ConfdReply, type ConfdRequest, packReply, unpackQuestion } from '../../rpc/confd/protocol'
import { answerTo, type Asked, refused } from './answers'
import { Replays } from './replays'

export interface ConfdOptions {
  readonly address: string
  readonly port: number
  readonly clock: Clock
  readonly log: Log
  /** The whole content of the key's file, with its line end; empty while there is none. */
  key(): string
  /** Undefined while there is no readable configuration. */
  config(): ConfigData | undefined
  /** The public part of gantry.data. */
  gantry?(): Pick<GantryData, 'sections'>
}

export interface Confd {
  readonly port: number
  close(): Promise<void>
  tell(): SelfMetrics
}

export async function startConfd(options: ConfdOptions): Promise<Confd> {
  const { address, port, log } = options
  const family = net.isIP(address) === 6 ? 6 : 4
  const socket = createSocket({
    ...{ type: `udp${family}` as const, recvBufferSize: CONFD_QUEUE_BYTES },
    // Answers go to addresses, so no name is looked up.
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
  private asked: Asked | undefined
  /** Answers since the last change of the configuration, by question. */
  private readonly answers = new Map<string, Packed>()
  private readonly replays = new Replays()
  /** The number of answers since the start. */
  given = 0

  constructor(private readonly options: ConfdOptions) {}

  hear(socket: Socket, bytes: Buffer, { address, port }: RemoteInfo): void {
    const { clock } = this.options
    const key = this.options.key()
    if (key === '' || port === 0) return
    const request = unpackQuestion(key, bytes, seconds(clock))
    if (request === undefined || this.replays.isReplay(request.hmac, `${address} ${port}`)) return
    this.given++
    try {
      socket.send(this.reply(key, request), port, address, this.sent)
    } catch (error) {
      this.options.log.error(
        { err: error, question: request.question },
        'a question was not answered because of a defect',
      )
    }
  }

  /** The sender may have gone, and then nobody waits for the answer. The error names the address. */
  private readonly sent = (error: Error | null): void => {
    if (error !== null) this.options.log.debug({ reason: errorText(error) }, 'an answer was not sent')
  }

  private reply(key: string, request: ConfdRequest): Buffer {
    const bytes = Buffer.from(packReply(key, request, this.answer(request)))
    if (bytes.length <= CONFD_ANSWER_BYTES_MAX) return bytes
    const text = `The answer has ${bytes.length} bytes, and a datagram has room for ${CONFD_ANSWER_BYTES_MAX}: ask for a part of it`
    return Buffer.from(packReply(key, request, packed(refused(text))))
  }

  private answer(request: ConfdRequest): Packed {
    const config = this.options.config()
    if (config === undefined) return packed(refused('Cannot load configuration'))
    if (this.asked?.questions.config !== config) {
      this.asked = { questions: new ConfigQuestions(config), gantry: this.options.gantry?.() ?? { sections: {} } }
      this.answers.clear()
    }
    const name = `${request.question} ${JSON.stringify(request.query)}`
    const kept = this.answers.get(name)
    if (kept !== undefined) return kept
    const made = packed(answerTo(this.asked, request))
    if (this.answers.size < CONFD_ANSWERS_KEPT && made.answer.length + name.length <= CONFD_KEPT_ANSWER_CHARS)
      this.answers.set(name, made)
    return made
  }
}

const packed = (reply: ConfdReply): Packed => ({ ...reply, answer: JSON.stringify(reply.answer) })
