// Asks the remote API of a cluster, of ours or of Ganeti's, over HTTPS.
import * as https from 'node:https'
import type { Clock } from '../../lib/clock'
import { Pieces, textOf } from '../../lib/pieces'
import { MOVE_ANSWER_BYTES_MAX, MOVE_ANSWER_S } from '../../model/limits/move'

export interface RapiAccess {
  readonly host: string
  readonly port: number
  /** PEM of the authorities that the cluster's certificate is checked with; its name is not: it is often asked by another one. */
  readonly ca: string
  readonly user?: string | undefined
  readonly password?: string | undefined
}

export type RapiVerb = 'GET' | 'PUT' | 'POST' | 'DELETE'

export interface Rapi {
  /** The answer's JSON. Rejects with a RapiRefusal or RapiSilence. */
  call(verb: RapiVerb, resource: string, body?: unknown): Promise<unknown>
}

/** The cluster has answered that it does not do this. */
export class RapiRefusal extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text)
  }
}

/** No answer came, so nobody knows whether it was done. */
export class RapiSilence extends Error {}

export const openRapi = (access: RapiAccess, clock: Clock): Rapi => ({
  call: (verb, resource, body) => exchange(access, clock, verb, resource, body),
})

function exchange(access: RapiAccess, clock: Clock, method: RapiVerb, path: string, body: unknown): Promise<unknown> {
  const { host, port, ca, user, password = '' } = access
  const text = body === undefined ? '' : JSON.stringify(body)
  const where = `${method} ${path} at ${host}:${port}`
  return new Promise((resolve, reject) => {
    const request = https.request({
      ...{ host, port, ca, method, path, agent: false },
      ...(user !== undefined && { auth: `${user}:${password}` }),
      // The length is said, because Node leaves it out of a GET, and its body would be taken for another request.
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: 'application/json' },
        'Content-Length': Buffer.byteLength(text),
      },
      checkServerIdentity: () => undefined,
    })
    const timer = clock.after(MOVE_ANSWER_S * 1000, () => fail(`no answer within ${MOVE_ANSWER_S} s`))
    const fail = (why: string) => {
      timer.cancel()
      reject(new RapiSilence(`${where}: ${why}`))
      request.destroy()
    }
    request.on('error', (error) => fail(error.message))
    request.once('response', (response) => {
      const pieces = new Pieces(MOVE_ANSWER_BYTES_MAX)
      const kept: Buffer[] = []
      response.on('data', (piece: Buffer) => {
        if (pieces.exceed(piece)) fail('its answer is too long')
        else kept.push(piece)
      })
      response.once('close', () => fail('it closed the connection within its answer'))
      response.once('end', () => {
        timer.cancel()
        try {
          resolve(answerOf(response.statusCode ?? 0, textOf(kept), where))
        } catch (error) {
          reject(error)
        }
      })
    })
    request.end(text)
  })
}

function answerOf(status: number, text: string, where: string): unknown {
  const answer = parsed(text)
  if (status === 200 && answer !== undefined) return answer
  // Doors between here and there answer so when nobody is behind them.
  if (status === 502 || status === 504) throw new RapiSilence(`${where}: ${status} ${wordsOf(answer)}`)
  throw new RapiRefusal(status, `${where}: ${status} ${status === 200 ? 'the answer is not JSON' : wordsOf(answer)}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `{ code, message, explain }`, as Ganeti tells errors. */
function wordsOf(answer: unknown): string {
  const fields = typeof answer === 'object' && answer !== null ? answer : {}
  const told = [Reflect.get(fields, 'message'), Reflect.get(fields, 'explain')]
  return told.filter((word) => typeof word === 'string' && word !== '').join(': ')
}
