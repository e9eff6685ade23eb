// Documentation pages for a browser, with which the API can be tried out.
import express, { type Express } from 'express'
import { serve, setup } from 'swagger-ui-express'

export interface Contract {
  /** The title of the page. */
  readonly title: string
  /** The OpenAPI document. */
  readonly file: string
}

export function createPages({ title, file }: Contract): Express {
  const app = express()
  app.disable('x-powered-by')
  app.get('/openapi.json', (_request, response) => response.sendFile(file))
  app.use(serve, setup(undefined, { customSiteTitle: title, customCss: STYLE, swaggerOptions: OPTIONS }))
  return app
}

/** Hides the bar with the viewer's name. */
const STYLE = '.swagger-ui .topbar { display: none }'

const OPTIONS = {
  url: '/docs/openapi.json',
  docExpansion: 'none',
  filter: true,
  tagsSorter: 'alpha',
  persistAuthorization: false,
  // No badge from a validator on the Internet: our policy blocks it, and the browser would complain.
  validatorUrl: null,
}
