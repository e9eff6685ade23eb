// The LUXI door: frames in, answers out. It decides nothing about jobs or the cluster; services do, this only translates.
import { type FramedConnection, type FramedServer, serveFramed } from '../../lib/json-socket'
import type { Log } from '../../lib/log'
import { GanetiError, GenericError, QueryFilterParseError } from '../../model/errors'
import { LUXI_BUFFERED_BYTES_MAX, LUXI_CONNECTIONS_MAX, LUXI_FRAME_BYTES_MAX } from '../../model/limits'
import { encodeAnswer } from '../../rpc/json-protocol'
import { ANSWER_HEAD, ANSWER_TAIL, JsonText } from '../../rpc/long-answers'
import type { Master } from '../../rpc/luxi/calls'
import { Unparsable, parseRequest, unreadableArgs } from '../../rpc/luxi/protocol'

/** Serves the same calls on several sockets; resolves to how to stop. */
export async function serveLuxi(sockets: readonly string[], master: Master, log: Log): Promise<FramedServer[]> {
  const servers: FramedServer[] = []
  for (const path of sockets)
    servers.push(
      await serveFramed({
        path,
        mode: 0o660,
        maxFrame: LUXI_FRAME_BYTES_MAX,
        maxBuffered: LUXI_BUFFERED_BYTES_MAX,
        maxConnections: LUXI_CONNECTIONS_MAX,
        onMessage: (text, connection) => answer(text, connection, master, log),
        onTooLarge: (connection) =>
          refuse(connection, new Unparsable(`message longer than ${LUXI_FRAME_BYTES_MAX} bytes`), log),
      }),
    )
  return servers
}

async function answer(text: string, connection: FramedConnection, master: Master, log: Log): Promise<void> {
  // What was sent behind an unreadable request is not looked at.
  if (connection.socket.writableEnded) return
  try {
    if (text.includes('\ufffd'))
      throw new Unparsable('Failed to decode UTF-8, detected replacement char after decoding')
    const request = parseRequest(text)
    try {
      await send(connection, await request.run(master, connection.signal))
    } catch (error) {
      // Nobody is there any more, which may be why it failed.
      if (connection.signal.aborted) return
      if (error instanceof QueryFilterParseError) throw unreadableArgs(request.args, error.message)
      connection.send(encodeAnswer(false, wireError(error, request.method, log)))
    }
  } catch (error) {
    refuse(connection, error, log)
  }
}

async function send(connection: FramedConnection, result: unknown): Promise<void> {
  if (!(result instanceof JsonText)) return void connection.send(encodeAnswer(true, result))
  let begun = false
  try {
    for await (const piece of result.pieces) {
      if (!(await connection.sendPart(begun ? piece : `${ANSWER_HEAD}${piece.toString()}`))) return
      begun = true
    }
    connection.send(ANSWER_TAIL)
  } catch (error) {
    // Who has got the beginning cannot be told.
    if (begun) connection.destroy()
    throw error
  }
}

function wireError(error: unknown, method: string, log: Log): unknown {
  if (error instanceof GanetiError) return error.toWire()
  log.error({ err: error, method }, 'a LUXI call failed because of a defect')
  return new GenericError(`Internal error in ${method}; the log of luxid has the details`).toWire()
}

function refuse(connection: FramedConnection, error: unknown, log: Log): void {
  if (!(error instanceof Unparsable)) log.error({ err: error }, 'a LUXI request could not be handled')
  connection.send(encodeAnswer(false, error instanceof Unparsable ? error.message : 'Failed to parse request'))
  connection.end()
}
