// Answers to what reaches no router: what is no HTTP, or of another version.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock'
import { errorCode } from '../../lib/disk'
import { RAPI_REFUSED_S, RETRY_AFTER_S } from '../../model/limits/rapi'
import { NOT_WHOLE } from './errors'

/** Answers data that is not HTTP, if an answer can still be sent. */
export function refuse(error: Error, socket: Socket, clock: Clock): void {
  if (errorCode(error) === 'ECONNRESET' || !socket.writable || isShaking(socket)) return void socket.destroy()
  hangUp(socket, versionOf(error), clock)
}

/** Answers, and then closes the connection: otherwise a client that does not hang up could keep it as long as it likes. */
export function hangUp(socket: Socket, why: Refusal, clock: Clock): void {
  socket.end(refusal(why))
  const timer = clock.after(RAPI_REFUSED_S * 1000, () => socket.destroy(), { background: true })
  socket.once('close', () => timer.cancel())
}

/** Before its handshake is over an answer can only wait for it, and would keep the connection for ever. */
const isShaking = (socket: Socket): boolean => Reflect.get(socket, 'secureConnecting') === true

export interface Refusal {
  readonly code: number
  readonly message: string
  readonly explain: string
}

/** The parser refuses some versions itself, and sees first when a client ends its side too early. */
function versionOf(error: Error): Refusal {
  const packet: unknown = Reflect.get(error, 'rawPacket')
  const line = Buffer.isBuffer(packet) ? (packet.toString('latin1').split('\r\n')[0] ?? '') : ''
  const [, version, major] = / HTTP\/((\d+)\.\d+)$/.exec(line) ?? []
  if (version !== undefined && Number(major) > 1) return versionRefused(version)
  const message = errorCode(error) === 'HPE_INVALID_EOF_STATE' ? NOT_WHOLE : 'Bad request syntax'
  return { code: 400, message, explain: 'Bad request syntax or unsupported method' }
}

export const versionRefused = (version: string): Refusal => ({
  code: 505,
  message: `Invalid HTTP Version (${version})`,
  explain: 'Cannot fulfill request.',
})

function refusal({ code, message, explain }: Refusal): string {
  const body = `{"code": ${code}, "message": "${message}", "explain": "${explain}"}\n`
  const head = [
    `HTTP/1.1 ${code} ${STATUS_CODES[code]}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...(code === 503 ? [`Retry-After: ${RETRY_AFTER_S}`] : []),
  ]
  return [...head, 'Connection: close', '', body].join('\r\n')
}
