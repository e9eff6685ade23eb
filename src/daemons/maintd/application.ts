// The application of the maintenance daemon.
import * as path from 'node:path'
import { logRequests } from '../../http/access-log'
import { type Application, createApplication, type Middleware } from '../../http/application'
import { Bodies } from '../../http/body'
import { createDispatcher, dropLastSlashes } from '../../http/dispatch'
import { documentation, documentationHeaders } from '../../http/documentation'
import { forReaders, HTML, show, smallPageHeaders } from '../../http/small-page'
import { MAINTD_HTTP_LIMITS } from '../../model/limits/maintenance'
import { maintdApi } from './api'
import type { MaintdServices } from './context'
import { metricsOf } from './metrics'
import { pageOf } from './page'

export function maintdApplication(options: MaintdServices): Application {
  const app = createApplication()
  app.use(logRequests(options, MAINTD_HTTP_LIMITS))
  app.use('/docs', documentationHeaders, documentation({ title: 'Gantry maintenance', file: CONTRACT }))
  app.use(dropLastSlashes)
  app.get('/', forReaders, smallPageHeaders, showPage(options))
  app.get('/metrics', smallPageHeaders, showMetrics(options))
  app.use(createDispatcher(maintdApi(options), new Bodies(MAINTD_HTTP_LIMITS)))
  return app
}

/** The path is right from src/ and from dist/. */
const CONTRACT = path.join(__dirname, '../../../openapi/maintd.json')

const showPage =
  ({ view }: MaintdServices): Middleware =>
  (_request, response) =>
    show(response, pageOf(view()), HTML)

const showMetrics =
  (options: MaintdServices): Middleware =>
  async (_request, response) => {
    const { text, type } = await metricsOf(options)
    show(response, text, type)
  }
