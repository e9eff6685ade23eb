// A door as a daemon has one: who may ask, its routes, and what it serves them with. It keeps nothing.
import { pipeline } from 'node:stream/promises'
import { type AccessLogOptions, logRequests } from '../../../../src/http/access-log'
import { createApplication } from '../../../../src/http/application'
import { Bodies } from '../../../../src/http/body'
import { createDispatcher, type Route, WEBSOCKET } from '../../../../src/http/dispatch'
import { documentation } from '../../../../src/http/documentation'
import { HttpError } from '../../../../src/http/errors'
import { jsonApi } from '../../../../src/http/json-api'
import { problemOf } from '../../../../src/http/problem'
import { type Door, serve } from '../../../../src/http/serve'
import type { Talk } from '../../../../src/http/websockets'
import { HTTP_LIMITS } from '../../../../src/model/limits/http'
import type { DoubleContext } from './context'

export const TOKEN = 'Bearer of the test'
export const LIMITS = { ...HTTP_LIMITS, body_bytes: 1000, message_bytes: 100 }

/** Says again what it hears. */
class EchoController {
  constructor(private readonly context: DoubleContext) {}

  echo(name: string): Talk {
    if (name === 'nobody') throw new HttpError(404, 'There is nobody')
    return async (messages) => {
      if (name === 'broken') throw new Error('a defect')
      messages.write(`${name}, ${this.context.caller}`)
      await pipeline(messages, messages)
    }
  }
}

/** OpenAPI has no websockets, so their routes are written by hand. */
const echoRoute: Route<DoubleContext> = {
  ...{ verb: WEBSOCKET, path: '/1/echo/:name', controller: EchoController, action: 'echo', security: [] },
  args: [{ in: 'path', name: 'name', dataType: 'string' }],
}

type Given = Pick<Door, 'clock' | 'log' | 'random' | 'files' | 'addresses' | 'port'>

export interface DoubleOptions extends Given, Partial<Pick<Door, 'certificate'> & Pick<AccessLogOptions, 'accessLog'>> {
  readonly routes: readonly Route<DoubleContext>[]
  /** The document. */
  readonly file: string
  /** It waits for this before it knows who asks. */
  readonly gate?: () => Promise<void>
}

export function startDouble({ routes, file, gate, accessLog = 'none', ...more }: DoubleOptions) {
  const { clock, log } = more
  const limits = LIMITS
  const door = {
    ...{ clock, limits, challenge: 'Bearer' },
    problemOf: (error: unknown) => problemOf(error, log, 'double'),
  }
  const api = jsonApi<string, DoubleContext>(door, {
    routes: [...routes, echoRoute],
    async identify({ headers }) {
      await gate?.()
      if (headers.authorization !== TOKEN) throw new HttpError(401)
      return 'somebody'
    },
    nameOf: (caller) => caller,
    context: ({ caller }) => ({ caller, reply: { status: 200, headers: {} } }),
    replyOf: ({ reply }) => reply,
  })
  const app = createApplication()
  app.use(logRequests({ accessLog, clock, log }, limits))
  app.use('/docs', documentation({ title: 'Double', file }))
  app.use(createDispatcher(api, new Bodies(limits)))
  return serve({
    ...{ websockets: true, limits, application: app, ...more },
    words: { type: 'text/plain', body: ({ message }) => Buffer.from(message) },
  })
}
