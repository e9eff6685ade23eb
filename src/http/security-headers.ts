// The headers that tell a browser what pages of ours may do.
import helmet from 'helmet'
import type { Middleware } from './application'

/**
 * `policy`: what the pages may load, by directive; undefined for pages that say it themselves. No page of another site
 * can show them in a frame. A browser may not insist on TLS later, because some doors are plain.
 */
export const securityHeaders = (policy?: Readonly<Record<string, readonly string[]>>): Middleware =>
  helmet({
    contentSecurityPolicy: policy !== undefined && { useDefaults: false, directives: policy },
    strictTransportSecurity: false,
    xFrameOptions: { action: 'deny' },
  })
