// Finds how far the clocks of master candidates are from this node's. A confd does not answer questions whose time
// differs by more than some minutes from its own. So we ask a silent one again with other times, and the time that it
// answers tells its clock. Nobody without the key can fake this.
import type { RemoteInfo } from 'node:dgram'
import * as net from 'node:net'
import { seconds } from '../../lib/clock'
import {
  CONFD_AGAIN_S,
  CONFD_CLOCK_S,
  CONFD_CLOCKS_MAX,
  CONFD_CLOCK_SEARCHED_S,
  CONFD_GUESSES_AT_ONCE,
  CONFD_GUESSES_PAUSE_S,
} from '../../model/limits/confd'
import { type ConfdOptions, openSocket } from './client'
import { CONFD, packQuestion, unpackReply } from './protocol'

export interface CandidateClock {
  readonly server: string
  /**
   * Seconds that its clock is ahead of this node's: 0 if near enough for answers, otherwise exact to some minutes;
   * undefined without an answer.
   */
  readonly ahead_s: number | undefined
}

type Options = Pick<ConfdOptions, 'key' | 'port' | 'clock' | 'random' | 'servers'>

export async function clocksOf(options: Options): Promise<CandidateClock[]> {
  const { clock, key, port, random } = options
  const servers = [...new Set(options.servers)].slice(0, CONFD_CLOCKS_MAX)
  const found = new Map<string, number>()
  const left = () => servers.filter((server) => !found.has(server))
  const guesses = new Map<string, number>()
  const hear = (bytes: Buffer, { address }: RemoteInfo) => {
    const text = bytes.toString('utf8')
    const [, salt = ''] = /"salt":\s*"([^"]*)"/.exec(text) ?? []
    const ahead_s = guesses.get(salt)
    if (ahead_s === undefined || found.has(address) || unpackReply(key, text, salt) === undefined) return
    found.set(address, ahead_s)
    if (left().length === 0) finish()
  }
  let finish: () => void = () => undefined
  const all = new Promise<void>((resolve) => (finish = resolve))
  const sockets = new Map([...new Set(servers.map((server) => net.isIP(server)))].map((of) => [of, openSocket(of)]))
  const send = (ahead_s: number) => {
    const salt = random.uuid()
    guesses.set(salt, ahead_s)
    const datagram = packQuestion(key, CONFD.ping, null, seconds(clock) + ahead_s, salt)
    for (const server of left()) sockets.get(net.isIP(server))?.send(datagram, port, server)
  }
  try {
    for (const socket of sockets.values()) socket.on('message', hear)
    send(0)
    await Promise.race([all, clock.sleep(CONFD_AGAIN_S * 1000)])
    for (const [at, ahead_s] of GUESSES.entries()) {
      if (left().length === 0) break
      send(ahead_s)
      if (at % CONFD_GUESSES_AT_ONCE === 0) await clock.sleep(CONFD_GUESSES_PAUSE_S * 1000)
    }
    if (left().length > 0) await Promise.race([all, clock.sleep(CONFD_AGAIN_S * 1000)])
  } finally {
    for (const socket of sockets.values()) socket.close()
  }
  return servers.map((server) => ({ server, ahead_s: found.get(server) }))
}

/** Each time covers as much before it as after it; the nearest come first. */
const STEP_S = 2 * CONFD_CLOCK_S
const GUESSES = Array.from({ length: CONFD_CLOCK_SEARCHED_S / STEP_S }, (_, at) => (at + 1) * STEP_S).flatMap((s) => [
  s,
  -s,
])
