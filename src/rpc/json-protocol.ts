// Calls over framed text, both ends: {"method","args"} is answered by {"success","result"}. LUXI and wconfd use it.
// Handlers give the calls their meaning.
import { hearAll, type Clock } from '../lib/clock'
import { errorText, systemFailure } from '../lib/system-failure'
import { errorCode } from '../lib/disk'
import { memoizeFrozen } from '../lib/memoize-frozen'
import { isDeeper } from '../lib/text/json-depth'
import { connectFramed, serveFramed, type FramedConnection, type FramedServer } from '../lib/net/json-socket'
import type { Log } from '../lib/log'
import { errorFromWire, errorToWire, GanetiError, GenericError } from '../model/errors'
import { CALL_CONNECT_S, CALL_DEPTH_MAX } from '../model/limits/wires'
import { ANSWER_HEAD, ANSWER_TAIL, parseLong } from './long-answers'

/** Returned by a handler that has sent its own messages on the connection. */
export const ANSWERED = Symbol('answered')

/** The value that it returns or resolves to is the result. If it throws a GanetiError, the caller gets it. */
export type CallHandler = (args: unknown, connection: FramedConnection) => unknown
export type CallHandlers = Readonly<Record<string, CallHandler>>

export interface CallServerOptions {
  path: string
  mode?: number
  maxFrame: number
  maxBuffered?: number
  maxConnections?: number
  log: Log
  onOpen?: (connection: FramedConnection) => void
  /** The answer to text that is no call, and whether to close afterwards. Default: Ganeti's answer, and close. */
  onUnparsable?: (reason: string, text: string) => { result: unknown; close: boolean }
}

export function serveCalls(options: CallServerOptions, handlers: CallHandlers): Promise<FramedServer> {
  const { path, mode, maxFrame, maxBuffered, maxConnections, onOpen } = options
  return serveFramed({
    path,
    mode,
    maxFrame,
    maxBuffered,
    maxConnections,
    onOpen,
    onMessage: (text, connection) => handleCall(text, connection, options, handlers),
    onDefect: (error) => options.log.error({ err: error }, 'a connection was closed because of a defect'),
    onTooLarge: (connection) =>
      refuse(connection, `message longer than ${maxFrame} bytes, or in far too many pieces`, '', options),
  })
}

/** A message in the form in which it is sent. */
export const encodeAnswer = (success: boolean, result: unknown): string =>
  `{"success":${success},"result":${resultJson(result)}}`

const resultJson = memoizeFrozen((result: unknown): string => JSON.stringify(result) ?? 'null')

async function handleCall(
  text: string,
  connection: FramedConnection,
  options: CallServerOptions,
  handlers: CallHandlers,
): Promise<void> {
  const call = parseCall(text)
  if (typeof call === 'string') return refuse(connection, call, text, options)
  const handler = Object.hasOwn(handlers, call.method) ? handlers[call.method] : undefined
  try {
    if (handler === undefined) throw new GenericError(`No such method: ${call.method}`)
    const result = await handler(call.args, connection)
    if (result !== ANSWERED) connection.send(encodeAnswer(true, result))
  } catch (error) {
    connection.send(encodeAnswer(false, toWire(error, call.method, options.log)))
  }
}

/** Encodes an error for the caller. An unforeseen error is logged; the caller gets it without the stack. */
export function toWire(error: unknown, method: string, log: Log): unknown {
  if (error instanceof GanetiError) return error.toWire()
  if (systemFailure(error) !== undefined) {
    log.error({ err: error, method }, 'the system refused what a call needs')
    return errorToWire(error)
  }
  log.error({ err: error, method }, 'a call failed because of a defect')
  return new GenericError(`Internal error in ${method}; the log of this daemon has the details`).toWire()
}

function parseCall(text: string): { method: string; args: unknown } | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : 'not JSON'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a JSON object'
  if (!('method' in value) || typeof value.method !== 'string') return "key 'method' is missing or no string"
  if (!('args' in value)) return "key 'args' is missing"
  if (isDeeper(value.args, CALL_DEPTH_MAX)) return `the arguments are nested deeper than ${CALL_DEPTH_MAX} levels`
  return { method: value.method, args: value.args }
}

function refuse(connection: FramedConnection, reason: string, text: string, options: CallServerOptions): void {
  options.log.warn({ reason, start: text.slice(0, 80) }, 'a message is no call')
  const { result, close } = options.onUnparsable?.(reason, text) ?? {
    result: `Failed to parse request: ${reason}`,
    close: true,
  }
  connection.send(encodeAnswer(false, result))
  if (close) connection.end()
}

/** The peer could not be reached, was lost during a call, or did not answer in time. */
export class PeerError extends Error {
  constructor(
    text: string,
    /**
     * With `unreachable` and `forbidden` the call was not sent; with the others it may or may not have been carried
     * out.
     */
    readonly kind: 'unreachable' | 'forbidden' | 'lost' | 'timeout',
  ) {
    super(text)
  }
}

export interface JsonClientOptions {
  path: string
  /** The peer's name in errors: `the master daemon (luxid)`. */
  peer: string
  connectTimeout_s?: number
  clock: Clock
}

/** The last answer to a repeated call: an answer with the same text is not parsed again. */
export interface Remembered {
  text?: string
  result?: unknown
}

interface Call {
  method: string
  remembered: Remembered | 'unread' | undefined
  resolve(result: unknown): void
  reject(error: Error): void
}

/** A connection with its waiting calls; answers come in the order of the calls. */
interface Link {
  connection: FramedConnection
  waiting: Call[]
}

/** Connects at the first call, and again at the next call after the connection was lost. Calls may overlap. */
export class JsonClient {
  private link: Link | undefined
  private connecting: Promise<Link> | undefined

  constructor(private readonly options: JsonClientOptions) {}

  /** `timeout_s` null: wait as long as the connection lives. An `unread` answer is the text of the result. */
  async call(
    method: string,
    args: unknown,
    timeout_s: number | null,
    remembered?: Remembered | 'unread',
  ): Promise<unknown> {
    const link = this.link ?? (await (this.connecting ??= this.connect()))
    return new Promise((resolve, reject) => {
      const { clock, peer, path } = this.options
      let settled = false
      const expire = async (limit_s: number) => {
        // If this process was stopped, the answer may have arrived without being read.
        await hearAll()
        if (!settled) this.drop(link, late(peer, path, method, limit_s))
      }
      const timer = timeout_s === null ? undefined : clock.after(timeout_s * 1000, () => void expire(timeout_s))
      const settle = (action: () => void) => {
        settled = true
        timer?.cancel()
        action()
      }
      link.waiting.push({
        method,
        remembered,
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      })
      if (!link.connection.send(JSON.stringify({ method, args }))) this.drop(link, lost(peer, path))
    })
  }

  close(): void {
    const { peer, path } = this.options
    if (this.link) this.drop(this.link, lost(peer, path))
    void this.connecting?.then(({ connection }) => connection.destroy()).catch(() => undefined)
  }

  private async connect(): Promise<Link> {
    const { path, peer, connectTimeout_s = CALL_CONNECT_S } = this.options
    const waiting: Call[] = []
    try {
      const onMessage = async (text: string) => {
        const hangsUp = await answer(waiting, text)
        if (hangsUp && this.link !== undefined && this.link.waiting === waiting) this.drop(this.link, lost(peer, path))
      }
      const connection = await connectFramed({ path, connectTimeout_s, onMessage })
      const link = { connection, waiting }
      this.link = link
      void connection.closed.then(() => this.drop(link, lost(peer, path)))
      return link
    } catch (error) {
      throw unreachable(peer, path, error)
    } finally {
      this.connecting = undefined
    }
  }

  /** Answers do not name their call, so after a time-out no further data on the connection can be assigned. */
  private drop(link: Link, reason: PeerError): void {
    if (this.link === link) this.link = undefined
    for (const call of link.waiting.splice(0)) call.reject(reason)
    link.connection.destroy()
  }
}

/**
 * True if the other end closes after this answer, because it could not parse the call and ignores everything after it.
 */
async function answer(waiting: Call[], text: string): Promise<boolean> {
  const call = waiting.shift()
  if (call === undefined) return false
  if (call.remembered === 'unread' && text.startsWith(ANSWER_HEAD)) {
    call.resolve(text.slice(ANSWER_HEAD.length, -ANSWER_TAIL.length))
    return false
  }
  const remembered = call.remembered === 'unread' ? undefined : call.remembered
  if (remembered?.text === text) {
    call.resolve(remembered.result)
    return false
  }
  try {
    const reply = await readReply(call.method, text)
    if (!reply.success) {
      call.reject(errorFromWire(reply.result))
      return typeof reply.result === 'string'
    }
    if (remembered) Object.assign(remembered, { text, result: Object.freeze(reply.result) })
    call.resolve(reply.result)
  } catch (error) {
    call.reject(error instanceof Error ? error : new GenericError(String(error)))
  }
  return false
}

/** Parses an answer; throws an error for the caller if the text is no valid answer. */
export async function readReply(method: string, text: string): Promise<{ success: boolean; result: unknown }> {
  let reply: unknown
  try {
    reply = await parseLong(text)
  } catch {
    throw new GenericError(`the answer to ${method} is not JSON`)
  }
  if (typeof reply !== 'object' || reply === null || !('success' in reply) || !('result' in reply))
    throw new GenericError(`the answer to ${method} is malformed`)
  return { success: reply.success === true, result: reply.result }
}

export function unreachable(peer: string, path: string, error: unknown): PeerError {
  const kind = errorCode(error) === 'EACCES' ? 'forbidden' : 'unreachable'
  return new PeerError(`cannot reach ${peer} at ${path}: ${whyNot(error)}`, kind)
}

export const late = (peer: string, path: string, method: string, timeout_s: number): PeerError =>
  new PeerError(`${peer} at ${path} did not answer ${method} in ${timeout_s} s`, 'timeout')

export const lost = (peer: string, path: string) =>
  new PeerError(`${peer} at ${path} closed the connection during a call; it may or may not have been done`, 'lost')

function whyNot(error: unknown): string {
  const code = errorCode(error)
  if (code === 'ENOENT' || code === 'ECONNREFUSED') return 'it is not running here (is this the master node?)'
  if (code === 'EACCES') return 'permission denied'
  return errorText(error)
}
