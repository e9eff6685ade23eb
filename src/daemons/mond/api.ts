// Ganeti's reports and our own requests: how they are answered and refused.
import type { ServerResponse } from 'node:http'
import { routes } from '../../generated/mond-routes'
import { JSON_TYPE } from '../../http/body'
import { type Api, pathOf } from '../../http/dispatch'
import { HttpError } from '../../http/errors'
import { problem, PROBLEM_TYPE } from '../../http/problem'
import { finishAnswer } from '../../lib/net/finish-answer'
import { MOND_HTTP_LIMITS } from '../../model/limits/mond'
import { type MondContext, type MondOptions, Written } from './context'
import { NO_RESOURCE, noReport, REFUSAL_WORDS, refusalOf } from './errors'

export function mondApi({ log, clock, ...options }: MondOptions): Api<undefined, MondContext> {
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
