// metad's answers: identifies the caller, words the refusals, and sends files.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { routes } from '../../generated/metad-routes'
import { type Api, pathOf } from '../../http/dispatch'
import { HttpError, notFound, unforeseen } from '../../http/errors'
import type { RefusalWords } from '../../http/refusal'
import type { Clock } from '../../lib/clock'
import { constants, type Files } from '../../lib/files'
import { finishAnswer } from '../../lib/net/finish-answer'
import type { Log } from '../../lib/log'
import { errorText } from '../../lib/system-failure'
import { METAD_HTTP_LIMITS } from '../../model/limits/metad'
import { Download, type MetadContext, type NodeFiles, Plain } from './context'
import type { Guest } from './instances'

export interface MetadApiOptions {
  readonly log: Log
  readonly clock: Clock
  readonly files: Files
  readonly node: NodeFiles
  /** The instance at the other end of a connection; undefined for everybody else. */
  readonly whoAsks: (request: IncomingMessage) => Promise<Guest | undefined>
}

/** Ganeti's words. Strangers get the same answer, so they cannot find out what exists. */
const NO_RESOURCE = 'Resource not found'

export const REFUSAL_WORDS: RefusalWords = {
  type: 'text/plain; charset=utf-8',
  body: ({ message }) => Buffer.from(message),
}

/** For these paths, Ganeti answers with the methods that they allow. */
const TELLS_METHODS = /^\/ganeti\/latest\/(read|write)$/

export function metadApi({ log, clock, files, node, whoAsks }: MetadApiOptions): Api<Guest, MetadContext> {
  return {
    routes,
    anyName: true,
    bodyType: /^/,
    strict: false,
    async identify(request) {
      const guest = await whoAsks(request)
      if (guest === undefined) throw notFound()
      return guest
    },
    nameOf: ({ name }) => name,
    wrongMethod(request, response, verbs) {
      if (!TELLS_METHODS.test(pathOf(request))) return notFound()
      response.setHeader('Allow', [...verbs].map((verb) => verb.toUpperCase()).join(', '))
      return new HttpError(405, '')
    },
    context: ({ caller }) => ({ guest: caller, node }),
    answer({ response }, result) {
      if (result instanceof Download) return download(response, result)
      if (result instanceof Plain) return send(response, 200, result.text, result.type)
      return send(response, 200, JSON.stringify(result), 'application/json')
    },
    refuse(_request, response, error) {
      const { status, message } = error instanceof HttpError ? error : unforeseen(error, log, 'metadata daemon')
      send(response, status, status === 404 ? NO_RESOURCE : message, REFUSAL_WORDS.type)
    },
  }

  function send(response: ServerResponse, status: number, text: string, type: string): void {
    if (response.destroyed) return
    if (response.headersSent) return void response.destroy()
    const data = Buffer.from(text)
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': data.length, 'Cache-Control': 'no-store' })
    void finishAnswer(response, data, clock, METAD_HTTP_LIMITS.dropped_body)
  }

  /** Sends the file as it is now; does not follow links. */
  async function download(response: ServerResponse, { file, type }: Download): Promise<void> {
    const handle = await files.open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
      log.warn({ file, failure: errorText(error) }, 'a file that an instance asks for cannot be read')
      throw notFound()
    })
    try {
      const stat = await handle.stat()
      if (!stat.isFile()) throw notFound()
      response.writeHead(200, { 'Content-Type': type, 'Content-Length': stat.size, 'Cache-Control': 'no-store' })
      // If the file grows meanwhile, only its original length is sent. The guest may leave at any moment.
      const content = handle.createReadStream({ autoClose: false, end: Math.max(stat.size - 1, 0) })
      if (stat.size === 0) response.end()
      else await pipeline(content, response).catch((error: unknown) => log.debug({ err: error }, 'a guest left'))
    } finally {
      await handle.close()
    }
  }
}
