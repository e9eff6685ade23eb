// Asks a cluster's remote API, ours or Ganeti's, over HTTPS.
import * as https from 'node:https'
import type { Clock } from '../../lib/clock'
import { FragmentLimit, textOf } from '../../lib/net/fragment-limit'
import { MOVE_ANSWER_BYTES_MAX, MOVE_ANSWER_S } from '../../model/limits/move'

export interface RapiAccess {
  readonly host: string
  readonly port: number
  /**
   * PEM of the authorities that must have signed the cluster's certificate. We do not check its name, because a cluster
   * is often reached by another one.
   */
  readonly ca: string
  readonly user?: string | undefined
  readonly password?: string | undefined
}

export type RapiVerb = 'GET' | 'PUT' | 'POST' | 'DELETE'

export interface Rapi {
  /** The answer's JSON. Rejects with a RapiRefusal or RapiSilence. */
  call(verb: RapiVerb, resource: string, body?: unknown): Promise<unknown>
}

/** The cluster has answered with a refusal. */
export class RapiRefusal extends Error {
  constructor(
    readonly status: number,
    text: string,
  ) {
    super(text)
  }
}

/** No answer came, so we do not know whether it was carried out. */
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
      // States the length, because Node omits it for GET, and the server would take the body for another request.
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
      const pieces = new FragmentLimit(MOVE_ANSWER_BYTES_MAX)
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
  // Proxies answer so when they cannot reach the cluster.
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

/** `{ code, message, explain }`, the form of Ganeti's errors. */
function wordsOf(answer: unknown): string {
  const fields = typeof answer === 'object' && answer !== null ? answer : {}
  const reported = [Reflect.get(fields, 'message'), Reflect.get(fields, 'explain')]
  return reported.filter((word) => typeof word === 'string' && word !== '').join(': ')
}
