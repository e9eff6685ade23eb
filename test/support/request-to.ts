// Requests to an application, without the door around it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import supertest from 'supertest'
import type { Middleware } from '../../src/http/application'

/** `requestTo(app).get('/')`. What no part answers is 404, and what fails is 500. */
export const requestTo = (app: Middleware) =>
  supertest((request: IncomingMessage, response: ServerResponse) =>
    app(request, response, (error) => response.writeHead(error ? 500 : 404).end()),
  )
