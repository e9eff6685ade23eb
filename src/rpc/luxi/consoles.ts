// Consoles of instances, from luxid to a door. After the answer of this LUXI call, its connection carries messages, the
// same as a websocket of the door: texts for states, and bytes.
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { framedMessages } from '../../lib/net/framed-messages'
import { END, connectSocket } from '../../lib/net/json-socket'
import { bool, oneOf, text } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import type { ValueOf } from '../../lib/shapes/shape'
import { errorFromWire } from '../../model/errors'
import { CONSOLE_MESSAGE_BYTES_MAX } from '../../model/limits/consoles'
import { CALL_CONNECT_S } from '../../model/limits/wires'
import { type JsonClientOptions, late, lost, readReply, unreachable } from '../json-protocol'
import { CONSOLE_KINDS, type ConsoleKind } from '../node/consoles'

export const consoleRequest = objectOf(
  { instance: text, kind: oneOf('Kind', CONSOLE_KINDS), read_only: bool },
  { others: 'dropped' },
)
export type ConsoleRequest = ValueOf<typeof consoleRequest>

/** Exchanges a console's messages until either side ends. */
export type ConsoleTalk = (messages: Duplex) => Promise<void>

/** The texts of a console. Input of a viewer counts only after the viewer has repeated the `stream` of `connected`. */
export type ConsoleMessage =
  | { readonly type: 'connected'; readonly stream: string; readonly node: string }
  | {
      readonly type: 'waiting'
      readonly why: 'stopped' | 'held' | 'refused' | 'unreachable'
      readonly node: string
      readonly text: string
    }
  | { readonly type: 'end'; readonly text: string }

/** The consoles that an instance has, by its parameters. */
export interface ConsoleChoices {
  readonly instance: string
  readonly node: string
  readonly kinds: readonly ConsoleKind[]
  readonly spice: SpiceScreen | null
}

/** The data for a SPICE client. Its user types the password, if there is one. */
export interface SpiceScreen {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  readonly password: boolean
  /** PEM of the certificate that has signed the screen's certificate. */
  readonly ca: string | null
}

const METHOD = 'GantryConsole'

/** Asks at once, so that a refusal comes before the talk. */
export function consoleTalk(options: JsonClientOptions, args: readonly unknown[], timeout_s: number): ConsoleTalk {
  return async (messages) => {
    const line = await openLine(options, args, timeout_s)
    await pipeline(messages, line, messages)
  }
}

async function openLine(
  { path, peer, connectTimeout_s = CALL_CONNECT_S, clock }: JsonClientOptions,
  args: readonly unknown[],
  timeout_s: number,
): Promise<Duplex> {
  const socket = await connectSocket(path, connectTimeout_s).catch((error: unknown) => {
    throw unreachable(peer, path, error)
  })
  const timer = clock.after(timeout_s * 1000, () => socket.destroy(late(peer, path, METHOD, timeout_s)))
  try {
    socket.write(`${JSON.stringify({ method: METHOD, args })}\x03`)
    const { success, result } = await readReply(METHOD, await answerOn(socket, lost(peer, path)))
    if (!success) throw errorFromWire(result)
    return framedMessages(socket, CONSOLE_MESSAGE_BYTES_MAX)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    timer.cancel()
  }
}

/** Data after the answer stays in the connection. */
function answerOn(socket: Duplex, cutOff: Error): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    const fail = (error?: Error) => reject(error ?? cutOff)
    const hear = (data: Buffer) => {
      const end = data.indexOf(END)
      if (end === -1) return void pieces.push(data)
      socket.pause()
      socket.off('data', hear).off('error', fail).off('close', fail)
      if (end + 1 < data.length) socket.unshift(data.subarray(end + 1))
      resolve(Buffer.concat([...pieces, data.subarray(0, end)]).toString())
    }
    socket
      .on('data', hear)
      .once('error', fail)
      .once('close', () => fail())
  })
}
