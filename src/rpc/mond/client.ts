// Asks a node's monitoring daemon, which answers everybody over plain HTTP. Time and size of its answer are bounded.
import * as http from 'node:http'
import { type Clock, hearAll } from '../../lib/clock'
import { errorCode } from '../../lib/disk'
import { FragmentLimit, textOf } from '../../lib/net/fragment-limit'

/**
 * `silent`: no answer in time. `refused`: nothing listens there, or the request is refused. `bad`: the answer is not
 * valid.
 */
export type FailureKind = 'silent' | 'refused' | 'bad'

export class MondFailure extends Error {
  constructor(
    readonly kind: FailureKind,
    text: string,
  ) {
    super(text)
  }
}

/** The second form is for simulated nodes, all of which one process plays. */
export type MondEndpoint =
  | { readonly host: string; readonly port: number }
  | { readonly socketPath: string; readonly headers: Readonly<Record<string, string>> }

export interface MondBounds {
  readonly clock: Clock
  readonly limit_s: number
  readonly bytes_max: number
  /** Called with the size of each piece before it is kept. */
  readonly hasRoom?: (bytes: number) => boolean
}

export interface MondAnswer {
  readonly text: string
  /** The node's clock when it answered, to the second; undefined if the answer does not tell. */
  readonly date_ms: number | undefined
}

/** Each question has its own connection: the other end might close a kept one just when it is used again. */
const AGENT = new http.Agent({ keepAlive: false })

/** Rejects with a MondFailure. */
export function askMond(endpoint: MondEndpoint, path: string, bounds: MondBounds): Promise<MondAnswer> {
  const { clock, limit_s } = bounds
  return new Promise((resolve, reject) => {
    const request = http.get({ ...endpoint, path, agent: AGENT })
    let begun = false
    const expire = () =>
      fail(
        begun
          ? new MondFailure('bad', `its answer did not end within ${limit_s} s`)
          : new MondFailure('silent', `no answer within ${limit_s} s`),
      )
    // If this process was stopped, the answer may have arrived without being read.
    const timer = clock.after(limit_s * 1000, () => void hearAll().then(expire))
    const fail = (failure: MondFailure) => {
      timer.cancel()
      request.destroy()
      reject(failure)
    }
    request.on('error', (error) => fail(failureOf(error, endpoint, begun)))
    request.once('response', (response) => {
      begun = true
      readAnswer(response, bounds).then((answer) => {
        timer.cancel()
        resolve(answer)
      }, fail)
    })
  })
}

function readAnswer(response: http.IncomingMessage, { bytes_max, hasRoom }: MondBounds): Promise<MondAnswer> {
  return new Promise((resolve, reject) => {
    const refuse = (kind: FailureKind, text: string) => reject(new MondFailure(kind, text))
    if (response.statusCode !== 200) return refuse('refused', `it answered with HTTP status ${response.statusCode}`)
    const pieces = new FragmentLimit(bytes_max)
    const kept: Buffer[] = []
    response.on('data', (piece: Buffer) => {
      if (pieces.exceed(piece)) return refuse('bad', `its answer is longer than ${bytes_max} bytes`)
      if (hasRoom?.(piece.length) === false)
        return refuse('bad', 'its answer was not read, because those of all nodes together are too long')
      kept.push(piece)
    })
    response.once('end', () => resolve({ text: textOf(kept), date_ms: timeOf(response.headers.date) }))
    response.once('close', () => refuse('bad', 'it closed the connection within its answer'))
  })
}

function timeOf(date: string | undefined): number | undefined {
  const time_ms = Date.parse(date ?? '')
  return Number.isNaN(time_ms) ? undefined : time_ms
}

function failureOf(error: Error, endpoint: MondEndpoint, begun: boolean): MondFailure {
  const where = 'socketPath' in endpoint ? endpoint.socketPath : `${endpoint.host}:${endpoint.port}`
  const code = errorCode(error) ?? ''
  if (code === 'ECONNREFUSED' || code === 'ENOENT')
    return new MondFailure('refused', `nothing listens on ${where}: is ganeti-mond running there?`)
  if (code.startsWith('HPE_')) return new MondFailure('bad', `what listens on ${where} does not speak HTTP: ${code}`)
  if (begun) return new MondFailure('bad', 'it closed the connection within its answer')
  if (code === 'ECONNRESET') return new MondFailure('refused', `${where} closed the connection before it answered`)
  return new MondFailure('silent', `${where}: ${error.message}`)
}
