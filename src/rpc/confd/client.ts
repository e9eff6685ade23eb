// Asks several master candidates at once and believes the one with the newest configuration. So a candidate that is
// down, or a lost datagram, costs little time, and a candidate that has missed changes is outvoted.
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import * as net from 'node:net'
import { type Clock, seconds, type Timer } from '../../lib/clock'
import type { Random } from '../../lib/random'
import { CONFD_AGAIN_S, CONFD_ANSWER_S, CONFD_ASKED_MAX, CONFD_OTHERS_S } from '../../model/limits/confd'
import { CONFD_STATUS, type ConfdQuestion, type ConfdReply, packQuestion, unpackReply } from './protocol'
import type { SilentServers } from './silent'

export interface ConfdOptions {
  /** The whole content of the key's file, with its line end. */
  readonly key: string
  /** Addresses of master candidates. */
  readonly servers: readonly string[]
  readonly port: number
  readonly clock: Clock
  readonly random: Random
  /** Called when a candidate contradicts the believed answer. */
  readonly warn: (text: string) => void
  /** Shared by consecutive questions. */
  readonly silent?: SilentServers
}

export interface CandidateReply extends ConfdReply {
  readonly server: string
}

export class ConfdClient {
  constructor(private readonly options: ConfdOptions) {}

  async ask(question: ConfdQuestion, query: unknown): Promise<unknown> {
    const [believed, ...others] = await this.askAll(question, query)
    if (believed === undefined) throw new Error('No answer from the Confd server')
    const text = disagreement(believed, others)
    if (text !== undefined) this.options.warn(text)
    if (believed.status === CONFD_STATUS.ok) return believed.answer
    throw new Error(`Confd server answered with an error: ${JSON.stringify(believed.answer)}`)
  }

  /** The answers that came in time, the highest serial number first. */
  async askAll(question: ConfdQuestion, query: unknown): Promise<CandidateReply[]> {
    const requested = this.chosen()
    if (requested.length === 0) throw new Error('No master candidate is known that could be asked')
    const replies = await this.exchange(requested, question, query)
    return replies.sort((a, b) => b.serial - a.serial)
  }

  /**
   * A random choice, so that the load is spread. Recently silent candidates are chosen only if there are too few
   * others.
   */
  private chosen(): string[] {
    const { servers, random, silent } = this.options
    const take = (left: string[], count: number) =>
      Array.from({ length: Math.min(left.length, count) }, () => left.splice(random.below(left.length), 1)).flat()
    const all = [...new Set(servers)]
    const received = take(
      all.filter((server) => silent?.has(server) !== true),
      CONFD_ASKED_MAX,
    )
    return [
      ...received,
      ...take(
        all.filter((server) => silent?.has(server) === true),
        CONFD_ASKED_MAX - received.length,
      ),
    ]
  }

  private exchange(requested: readonly string[], question: ConfdQuestion, query: unknown): Promise<CandidateReply[]> {
    const { key, port, clock, random, silent } = this.options
    const salt = random.uuid()
    const datagram = packQuestion(key, question, query, seconds(clock), salt)
    const sockets = new Map(
      [...new Set(requested.map((server) => net.isIP(server)))].map((family) => [family, openSocket(family)]),
    )
    const received = requested.filter((server) => silent?.has(server) !== true)
    const awaited = received.length === 0 ? requested : received
    const most = Math.floor(awaited.length / 2) + 1
    const replies = new Map<string, CandidateReply>()
    const begun_ms = clock.monotonic_ms()
    return new Promise((resolve) => {
      let timer: Timer | undefined
      const wait = (wait_s: number, then: () => void) => {
        timer?.cancel()
        timer = clock.after(wait_s * 1000, then)
      }
      const end = () => {
        timer?.cancel()
        for (const socket of sockets.values()) socket.close()
        sockets.clear()
        silent?.note(requested, replies)
        resolve([...replies.values()])
      }
      const send = () => {
        for (const server of requested) sockets.get(net.isIP(server))?.send(datagram, port, server)
        wait(CONFD_AGAIN_S, () => {
          // An answer counts even without the others. While there is none, the question may be lost, so it is sent
          // again.
          if (replies.size > 0 || clock.monotonic_ms() - begun_ms >= CONFD_ANSWER_S * 1000) end()
          else send()
        })
      }
      const hear = (bytes: Buffer, { address }: RemoteInfo) => {
        const reply = sockets.size === 0 ? undefined : unpackReply(key, bytes.toString('utf8'), salt)
        if (reply === undefined || replies.has(address)) return
        replies.set(address, { ...reply, server: address })
        const count = awaited.filter((server) => replies.has(server)).length
        if (count === awaited.length) return end()
        // Most have answered. The others get a moment more, since one may have newer data.
        if (count === most) wait(CONFD_OTHERS_S, end)
      }
      for (const socket of sockets.values()) socket.on('message', hear)
      send()
    })
  }
}

export function openSocket(family: number): Socket {
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
  // An unreachable server counts as one that does not answer.
  return socket.on('error', () => undefined)
}

/** Names the candidates that contradict the believed answer; undefined if there are none. */
export function disagreement(believed: CandidateReply, others: readonly CandidateReply[]): string | undefined {
  const said = ({ status, answer }: ConfdReply) => JSON.stringify([status, answer])
  const different = others.filter((other) => said(other) !== said(believed))
  if (different.length === 0) return undefined
  const named = ({ server, serial }: CandidateReply) => `${server} (serial ${serial})`
  return (
    `master candidates disagree: ${named(believed)} is believed, and ${different.map(named).join(', ')} ` +
    `${different.length === 1 ? 'says' : 'say'} something else`
  )
}
