// The application of the metadata daemon.
import { type AccessLogOptions, logRequests } from '../../http/access-log'
import { type Application, createApplication } from '../../http/application'
import { createDispatcher, dropLastSlashes } from '../../http/dispatch'
import { METAD_HTTP_LIMITS } from '../../model/limits/metad'
import { metadApi, type MetadApiOptions } from './api'

export function metadApplication(options: MetadApiOptions & AccessLogOptions): Application {
  const app = createApplication()
  app.use(logRequests(options, METAD_HTTP_LIMITS))
  app.use(dropLastSlashes)
  app.use(createDispatcher(metadApi(options), NO_BODIES))
  return app
}

/** No request has a relevant body: it is dropped within bounds when the answer is sent. */
const NO_BODIES = { read: () => Promise.resolve(undefined) }
