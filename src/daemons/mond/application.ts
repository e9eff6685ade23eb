// The application of the monitoring daemon.
import * as path from 'node:path'
import { logRequests } from '../../http/access-log'
import { type Application, createApplication, type Middleware } from '../../http/application'
import { Bodies } from '../../http/body'
import { createDispatcher, dropLastSlashes } from '../../http/dispatch'
import { documentation, documentationHeaders } from '../../http/documentation'
import { forReaders, HTML, show, smallPageHeaders } from '../../http/small-page'
import { MOND_LATEST_API_VERSION } from '../../model/constants/versions'
import { MOND_HTTP_LIMITS } from '../../model/limits/mond'
import { mondApi } from './api'
import type { MondOptions } from './context'
import { pageOf } from './page'

export function mondApplication(options: MondOptions): Application {
  const app = createApplication()
  app.use(logRequests(options, MOND_HTTP_LIMITS))
  app.use('/docs', documentationHeaders, documentation({ title: 'Gantry monitoring', file: CONTRACT }))
  app.use(dropLastSlashes)
  app.get('/', forReaders, smallPageHeaders, showPage(options))
  app.get('/metrics', smallPageHeaders, showMetrics(options))
  app.use(newestReports)
  app.use(createDispatcher(mondApi(options), new Bodies(MOND_HTTP_LIMITS)))
  return app
}

/** The path is right from src/ and from dist/. */
const CONTRACT = path.join(__dirname, '../../../openapi/mond.json')

const showPage =
  (options: MondOptions): Middleware =>
  async (_request, response) =>
    show(response, await pageOf(options), HTML)

/** Loaded with the first reader. */
const showMetrics =
  (options: MondOptions): Middleware =>
  async (_request, response) => {
    const { metricsOf } = await import('./metrics.js')
    const { text, type } = await metricsOf(options)
    show(response, text, type)
  }

/** The alias of the newest version's single reports. */
const newestReports: Middleware = (request, _response, next) => {
  const { url = '' } = request
  if (url.startsWith('/report/')) request.url = `/${MOND_LATEST_API_VERSION}${url}`
  next()
}
