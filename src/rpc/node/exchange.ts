// One request to a node daemon and its answer, within time and size limits. Errors say what happened, but never repeat
// the request.
import * as http from 'node:http'
import * as https from 'node:https'
import { type Socket, connect } from 'node:net'
import { type Clock, hearAll } from '../../lib/clock'
import { errorCode } from '../../lib/disk'
import { NoRoom, readBody } from '../../lib/net/read-body'
import { ReadingRoom } from '../../lib/net/reading-room'
import { hasMoreValues } from '../../lib/text/json-depth'
import {
  NODE_ANSWERS_BYTES_MAX,
  NODE_ANSWER_BYTES_PER_VALUE,
  NODE_CONNECT_S,
  NODE_REACH_S,
} from '../../model/limits/node-calls'
import { type CallName, callOf } from './calls'

export type Endpoint = { headers: Record<string, string> } & (
  { agent: https.Agent; host: string; port: number } | { agent: http.Agent; socketPath: string }
)

export interface Exchanged {
  readonly text: string
  /** The name of the node's software; ours sends none. */
  readonly server: string
}

/** All answers that this process reads share it. */
const ROOM = new ReadingRoom(NODE_ANSWERS_BYTES_MAX)

/** The other end closed the connection instead of answering. */
export class HungUp extends Error {}

export function exchange(
  endpoint: Endpoint,
  call: CallName,
  body: string,
  timeout_s: number,
  clock: Clock,
  canReach: typeof isReachable = isReachable,
  room = ROOM,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body)
    const request = startRequest(endpoint, call, bytes.length)
    let answered = false
    const expire = async () => {
      // If this process was stopped, the answer may have arrived without being read.
      await hearAll()
      if (!answered) stop(new Error(`no answer within ${timeout_s} s`))
    }
    const limit = clock.after(timeout_s * 1000, () => void expire())
    // We get no notice when a machine loses its power. Without this check, a running call would wait for its whole time
    // limit.
    const watch = () => clock.after(NODE_REACH_S * 1000, () => void look(), { background: true })
    const look = async () => {
      const isThere = 'socketPath' in endpoint || (await canReach(endpoint, clock)) || (await canReach(endpoint, clock))
      if (answered) return
      if (isThere) reach = watch()
      else stop(new Error(`no connection within ${NODE_CONNECT_S} s any more; what was asked may be done or not`))
    }
    let reach = watch()
    const end = () => {
      answered = true
      limit.cancel()
      reach.cancel()
    }
    const stop = (error: Error) => {
      end()
      request.destroy()
      reject(error)
    }
    request.on('error', (error) => stop(explain(error, endpoint)))
    request.once('socket', (socket: Socket) => limitConnect(socket, clock, stop))
    request.once('response', (response) => {
      readAnswer(response, `the answer of ${whereOf(endpoint)} to ${call}`, call, room).then((text) => {
        end()
        resolve({ text, server: String(response.headers['server']) })
      }, stop)
    })
    request.end(bytes)
  })
}

/** Whether the machine accepts or refuses a connection. Its kernel does so even if the daemon is stopped or busy. */
function isReachable({ host, port }: { host: string; port: number }, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const answer = (is: boolean) => {
      limit.cancel()
      socket.destroy()
      resolve(is)
    }
    const limit = clock.after(NODE_CONNECT_S * 1000, () => answer(false))
    socket.once('connect', () => answer(true))
    socket.once('error', (error) => answer(errorCode(error) === 'ECONNREFUSED'))
  })
}

function startRequest(endpoint: Endpoint, call: string, length: number): http.ClientRequest {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': length, ...endpoint.headers }
  const common = { method: 'POST', path: `/${call}`, headers, agent: endpoint.agent }
  if ('socketPath' in endpoint) return http.request({ ...common, socketPath: endpoint.socketPath })
  return https.request({ ...common, host: endpoint.host, port: endpoint.port })
}

function limitConnect(socket: Socket, clock: Clock, stop: (error: Error) => void): void {
  if (!socket.connecting) return
  const timer = clock.after(NODE_CONNECT_S * 1000, () => stop(new Error(`no connection within ${NODE_CONNECT_S} s`)))
  const done = () => timer.cancel()
  socket.once('connect', done)
  socket.once('close', done)
}

export const UNKNOWN_CALL = 'the node does not know this call'

async function readAnswer(
  response: http.IncomingMessage,
  what: string,
  call: CallName,
  room: ReadingRoom,
): Promise<string> {
  const { answer_bytes } = callOf(call)
  const text = await readBody(response, answer_bytes, room).catch((error: unknown) => {
    if (error instanceof NoRoom) throw new Error(`${what} was given up: ${error.message}`, { cause: error })
    throw error
  })
  if (text === undefined)
    throw new Error(`${what} is longer than the ${answer_bytes} bytes of this call, or comes in far too many pieces`)
  if (response.statusCode !== 200) throw new Error(refusal(response.statusCode))
  const values = answer_bytes / NODE_ANSWER_BYTES_PER_VALUE
  if (hasMoreValues(text, values)) throw new Error(`${what} has more than the ${values} values of this call`)
  return text
}

function refusal(status: number | undefined): string {
  if (status === 403) return 'the node refuses this caller: its certificate is not one of a master candidate'
  if (status === 404) return UNKNOWN_CALL
  if (status === 413) return 'the arguments are too long for the node'
  return `the node answered with HTTP status ${status}`
}

const whereOf = (endpoint: Endpoint): string =>
  'socketPath' in endpoint ? endpoint.socketPath : `${endpoint.host}:${endpoint.port}`

function explain(error: Error, endpoint: Endpoint): Error {
  const where = whereOf(endpoint)
  const code = errorCode(error)
  if (code === 'ECONNRESET') return new HungUp(`${where} closed the connection before it answered`)
  return new Error(reasonOf(error, code, where))
}

function reasonOf(error: Error, code: string | undefined, where: string): string {
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return `nothing listens on ${where}: is ganeti-noded running there?`
  if (code?.startsWith('ERR_SSL') || code?.includes('CERT')) return `TLS with ${where} failed: ${error.message}`
  return `${where}: ${error.message}`
}
