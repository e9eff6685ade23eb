// The pages that people open in a browser: the documentation, from which the API can be tried out.
import express, { type Express } from 'express'
import helmet from 'helmet'
import { serve, setup } from 'swagger-ui-express'

export interface Contract {
  /** The page's own. */
  readonly title: string
  /** The OpenAPI document. */
  readonly file: string
}

export function createPages({ title, file }: Contract): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use(helmet({ contentSecurityPolicy: { useDefaults: false, directives: POLICY }, strictTransportSecurity: false }))
  app.get('/docs/openapi.json', (_request, response) => response.sendFile(file))
  app.use('/docs', serve, setup(undefined, { customSiteTitle: title, customCss: STYLE, swaggerOptions: OPTIONS }))
  return app
}

/** Swagger UI styles elements and embeds its icons in its style sheet; scripts and requests stay with this server. */
const POLICY = {
  defaultSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  baseUri: ["'self'"],
  frameAncestors: ["'none'"],
}

/** Without the bar that tells who made the viewer. */
const STYLE = '.swagger-ui .topbar { display: none }'

const OPTIONS = {
  url: '/docs/openapi.json',
  docExpansion: 'none',
  filter: true,
  tagsSorter: 'alpha',
  persistAuthorization: false,
  // No badge from a validator on the Internet: the policy above blocks it, and the browser complains.
  validatorUrl: null,
}
