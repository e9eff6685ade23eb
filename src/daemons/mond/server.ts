// The monitoring daemon: the node's reports over plain HTTP for everybody, as in Ganeti. It changes nothing.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as path from 'node:path'
import { routes } from '../../generated/mond-routes'
import { Bodies, JSON_TYPE } from '../../http/body'
import { type Api, createDispatcher, dropLastSlashes, type Handler, pathOf } from '../../http/dispatch'
import { HttpError } from '../../http/errors'
import { problem, PROBLEM_TYPE } from '../../http/problem'
import { serve } from '../../http/serve'
import { showPages } from '../../http/show-pages'
import { finishAnswer } from '../../lib/net/finish-answer'
import type { OwnFigures } from '../../lib/own-figures'
import { MOND_LATEST_API_VERSION } from '../../model/constants/versions'
import { MOND_HTTP_LIMITS } from '../../model/limits/mond'
import { type MondContext, type MondOptions, Written } from './context'
import { NO_RESOURCE, noReport, REFUSAL_WORDS, refusalOf } from './errors'
import { pageOf } from './page'

export interface Mond {
  readonly addresses: readonly AddressInfo[]
  close(): Promise<void>
  tell(): OwnFigures
}

export async function startMond(options: MondOptions): Promise<Mond> {
  const { addresses, port, log, clock, random, files, accessLog } = options
  return serve({
    ...{ addresses, port, log, clock, random, files, accessLog, limits: MOND_HTTP_LIMITS },
    handle: createHandler(options),
    words: REFUSAL_WORDS,
  })
}

function createHandler(options: MondOptions): Handler {
  const reports = createDispatcher(mondApi(options), new Bodies(MOND_HTTP_LIMITS))
  const pages = showPages({ title: 'Gantry monitoring', file: CONTRACT })
  return (request, response) => {
    if (/^\/docs([/?]|$)/.test(request.url ?? '')) return pages(request, response)
    dropLastSlashes(request)
    const url = request.url ?? ''
    if (isForReader(request)) return showPage(options, response)
    if (/^\/metrics(\?|$)/.test(url)) return showMetrics(options, response)
    // The alias of the newest version's single reports.
    if (url.startsWith('/report/')) request.url = `/${MOND_LATEST_API_VERSION}${url}`
    return reports(request, response)
  }
}

async function showPage(options: MondOptions, response: ServerResponse): Promise<void> {
  show(response, await pageOf(options), 'text/html; charset=utf-8')
}

/** Loaded with the first reader. */
async function showMetrics(options: MondOptions, response: ServerResponse): Promise<void> {
  const { metricsOf } = await import('./metrics.js')
  const { text, type } = await metricsOf(options)
  show(response, text, type)
}

/** The path is right from src/ and from dist/. */
const CONTRACT = path.join(__dirname, '../../../openapi/mond.json')

/** People get a page. Programs, which do not ask for HTML, get the same as always. */
const isForReader = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && /^\/(\?|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '')

function mondApi({ log, clock, ...options }: MondOptions): Api<undefined, MondContext> {
  return {
    routes,
    anyName: true,
    bodyType: JSON_TYPE,
    // Ganeti ignores all query parameters, so only the values of our own are checked.
    strict: false,
    identify: () => Promise.resolve(undefined),
    nameOf: () => undefined,
    wrongMethod(request, response, verbs) {
      response.setHeader('Allow', [...verbs].map((verb) => verb.toUpperCase()).join(', '))
      return new HttpError(405, `${request.method} is not supported for ${pathOf(request)}`)
    },
    context: () => ({ ...options, clock }),
    answer({ response }, result) {
      const text = result instanceof Written ? result.text : JSON.stringify(result)
      send(response, 200, text, 'application/json')
    },
    refuse(request, response, error) {
      const { status, message } = refusalOf(error, log)
      if (status === 400) return send(response, status, JSON.stringify(problem(status, message)), PROBLEM_TYPE)
      const isReport = /^\/1\/report(\/|$)/.test(pathOf(request))
      const words = status !== 404 ? message : isReport ? noReport().message : NO_RESOURCE
      send(response, status, words, REFUSAL_WORDS.type)
    },
  }

  function send(response: ServerResponse, status: number, text: string, type: string): void {
    if (response.destroyed) return
    if (response.headersSent) return void response.destroy()
    const data = Buffer.from(text)
    response.writeHead(status, { 'Content-Type': type, 'Content-Length': data.length, 'Cache-Control': 'no-store' })
    void finishAnswer(response, data, clock, MOND_HTTP_LIMITS.dropped_body)
  }
}

/** The page contains its styles, and loads nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

function show(response: ServerResponse, text: string, type: string): void {
  const data = Buffer.from(text)
  const safety = { 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' }
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': data.length, ...safety }).end(data)
}
