// The LUXI door: frames in, answers out. It only translates; services decide about jobs and the cluster.
import { UnsettledAppend } from '../../lib/file/unsettled-append'
import { framedMessages } from '../../lib/net/framed-messages'
import { type FramedConnection, type FramedServer, serveFramed } from '../../lib/net/json-socket'
import type { Log } from '../../lib/log'
import { QueryFilterParseError } from '../../model/errors'
import { CONSOLE_MESSAGE_BYTES_MAX } from '../../model/limits/consoles'
import {
  LUXI_BUFFERED_BYTES_MAX,
  LUXI_CONNECTIONS_MAX,
  LUXI_FRAME_BYTES_MAX,
  LUXI_HELD_MAX,
} from '../../model/limits/luxi'
import { claim } from '../../model/owners'
import { encodeAnswer, toWire } from '../../rpc/json-protocol'
import { ANSWER_HEAD, ANSWER_TAIL, JsonText } from '../../rpc/long-answers'
import type { ConsoleTalk } from '../../rpc/luxi/consoles'
import type { Master } from '../../rpc/luxi/master'
import { onlyAsks } from '../../rpc/luxi/gantry-calls'
import { Unparsable, parseRequest, unreadableArgs } from '../../rpc/luxi/protocol'

/** Serves the same calls on several sockets. Resolves to a function that stops. */
export async function serveLuxi(sockets: readonly string[], master: Master, log: Log): Promise<FramedServer[]> {
  const servers: FramedServer[] = []
  for (const path of sockets) {
    servers.push(
      await serveFramed({
        path,
        maxFrame: LUXI_FRAME_BYTES_MAX,
        maxBuffered: LUXI_BUFFERED_BYTES_MAX,
        maxConnections: LUXI_CONNECTIONS_MAX,
        givesWay: true,
        onMessage: (text, connection) => answer(text, connection, master, log),
        onDefect: (error) => log.error({ err: error }, 'a connection was closed because of a defect'),
        onTooLarge: (connection) =>
          refuse(connection, new Unparsable(`message longer than ${LUXI_FRAME_BYTES_MAX} bytes`), log),
      }),
    )
    claim(path)
  }
  return servers
}

async function answer(text: string, connection: FramedConnection, master: Master, log: Log): Promise<void> {
  // Requests after an unparsable one are ignored.
  if (connection.socket.writableEnded) return
  try {
    if (text.includes('\ufffd'))
      throw new Unparsable('Failed to decode UTF-8, detected replacement char after decoding')
    const request = parseRequest(text)
    // A client that asked while this daemon was stopped may have given up, and asked for something else since.
    if (!onlyAsks(request.method) && !(await connection.senderStays())) return givenUp(request.method, log)
    try {
      const result = await request.run(master, connection.signal)
      if (isTalk(result)) return await talkOn(connection, result, log)
      await send(connection, result)
    } catch (error) {
      // The client has left, which may be the reason for the failure.
      if (connection.signal.aborted) return
      // No answer is better than this one: the next luxid reads on the disk whether it happened.
      if (error instanceof UnsettledAppend) return connection.destroy()
      if (error instanceof QueryFilterParseError) throw unreadableArgs(request.args, error.message)
      connection.send(encodeAnswer(false, toWire(error, request.method, log)))
    }
  } catch (error) {
    refuse(connection, error, log)
  }
}

/** The result of a console call. */
const isTalk = (result: unknown): result is ConsoleTalk => typeof result === 'function'

/** After the answer, the talk uses the connection. */
async function talkOn(connection: FramedConnection, talk: ConsoleTalk, log: Log): Promise<void> {
  connection.send(encodeAnswer(true, null))
  const socket = connection.takeOver()
  try {
    await talk(framedMessages(socket, CONSOLE_MESSAGE_BYTES_MAX))
  } catch (error) {
    log.error({ err: error }, 'a console failed because of a defect')
  } finally {
    socket.end()
  }
}

async function send(connection: FramedConnection, result: unknown): Promise<void> {
  if (!(result instanceof JsonText)) return void connection.send(encodeAnswer(true, result))
  let begun = false
  /** The first piece, while it may be the only one: most answers are short, and are sent at once. */
  let held: string | undefined
  try {
    for await (const piece of result.pieces) {
      if (held === undefined && !begun && piece.length < LUXI_HELD_MAX) {
        held = `${ANSWER_HEAD}${piece.toString()}`
        continue
      }
      const part = begun ? piece : `${held ?? ANSWER_HEAD}${piece.toString()}`
      held = undefined
      begun = true
      if (!(await connection.sendPart(part))) return
    }
    connection.send(`${held ?? ''}${ANSWER_TAIL}`)
  } catch (error) {
    // A client that already has the beginning cannot be told about the failure.
    if (begun) connection.destroy()
    throw error
  }
}

const givenUp = (method: string, log: Log): void =>
  log.warn({ method }, 'a call is not carried out: whoever sent it has left before it was begun')

function refuse(connection: FramedConnection, error: unknown, log: Log): void {
  if (!(error instanceof Unparsable)) log.error({ err: error }, 'a LUXI request could not be handled')
  connection.send(encodeAnswer(false, error instanceof Unparsable ? error.message : 'Failed to parse request'))
  connection.end()
}
