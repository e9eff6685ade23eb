// Answers to connections that reach no API: no HTTP, another version of it, or one connection too many.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../lib/clock'
import { errorCode } from '../lib/disk'
import type { HttpLimits } from '../model/limits/http'
import { NOT_WHOLE } from './errors'

export interface Refusal {
  readonly status: number
  readonly message: string
}

/** The words of a door that disconnects. */
export interface RefusalWords {
  readonly type: string
  body(refusal: Refusal): Buffer
}

export interface RefusalOptions {
  readonly words: RefusalWords
  readonly clock: Clock
  readonly limits: Pick<HttpLimits, 'refused_s' | 'retry_after_s'>
}

/** Answers data that is not HTTP, if it still can. */
export function refuse(error: Error, socket: Socket, options: RefusalOptions): void {
  if (errorCode(error) === 'ECONNRESET' || !socket.writable || isShaking(socket)) return void socket.destroy()
  hangUp(socket, refusalOf(error), options)
}

/** Answers and then closes, because a client that does not disconnect could keep the connection for ever. */
export function hangUp(socket: Socket, refusal: Refusal, { words, clock, limits }: RefusalOptions): void {
  const { status } = refusal
  const body = words.body(refusal)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${words.type}`,
    `Content-Length: ${body.length}`,
    ...(status === 503 ? [`Retry-After: ${limits.retry_after_s}`] : []),
    ...['Connection: close', '', ''],
  ]
  socket.write(Buffer.concat([Buffer.from(head.join('\r\n')), body]))
  letGo(socket, { clock, limits })
}

/** Ends a connection whose last answer has been written. */
export function letGo(socket: Socket, { clock, limits }: Pick<RefusalOptions, 'clock' | 'limits'>): void {
  socket.end()
  const timer = clock.after(limits.refused_s * 1000, () => socket.destroy(), { background: true })
  socket.once('close', () => timer.cancel())
}

/** During a handshake an answer would wait for the handshake's end, and could keep the connection for ever. */
const isShaking = (socket: Socket): boolean => Reflect.get(socket, 'secureConnecting') === true

/** The parser itself refuses some versions, and notices when a client ends too early. */
function refusalOf(error: Error): Refusal {
  const packet: unknown = Reflect.get(error, 'rawPacket')
  const line = Buffer.isBuffer(packet) ? (packet.toString('latin1').split('\r\n')[0] ?? '') : ''
  const [, version, major] = / HTTP\/((\d+)\.\d+)$/.exec(line) ?? []
  if (version !== undefined && Number(major) > 1) return versionRefused(version)
  return { status: 400, message: errorCode(error) === 'HPE_INVALID_EOF_STATE' ? NOT_WHOLE : 'Bad request syntax' }
}

export const versionRefused = (version: string): Refusal => ({
  status: 505,
  message: `Invalid HTTP Version (${version})`,
})
