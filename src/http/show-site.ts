// Serves a site that was built into a folder: one page, with its scripts and styles. The page loads nothing from other
// hosts, and other sites cannot embed it in a frame. Markup injected into the page cannot run scripts or set styles.
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as path from 'node:path'
import { isMissing } from '../lib/disk'
import type { Files } from '../lib/files'
import type { Random } from '../lib/random'
import type { Middleware } from './application'
import { pathOf } from './dispatch'

interface Site {
  /** Contains index.html, and a folder `assets` whose files never change under their names. */
  readonly folder: string
  readonly files: Files
  readonly random: Random
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | string
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Its place in the page gets a new nonce each time, which allows the page's own styles. */
const NONCE = '@nonce@'

export function showSite(site: Site): Middleware {
  return async (request, response) => {
    const answer = await answerTo(site, request)
    send(request, response, answer)
  }
}

async function answerTo(site: Site, request: IncomingMessage): Promise<Answer> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { ...refusal(405, `${request.method} is not supported here`), headers: { Allow: 'GET, HEAD' } }
  const [, asset] = /\/assets\/(\w[\w.-]*)$/.exec(pathOf(request)) ?? []
  try {
    return asset === undefined ? await page(site) : await file(site, asset, request)
  } catch (error) {
    if (!isMissing(error)) throw error
    if (asset === undefined) return refusal(404, 'The console is not built: `npm run build` does it')
    return refusal(404, `There is no ${asset}: load the page again, since there may be a newer version`)
  }
}

async function page({ folder, files, random }: Site): Promise<Answer> {
  const text = await files.readFile(path.join(folder, 'index.html'), 'utf8')
  const nonce = random.hex(16)
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': policy(nonce),
  }
  return { status: 200, headers, body: text.replaceAll(NONCE, nonce) }
}

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Files that were compressed at build time are sent compressed to clients that accept it. */
async function file({ folder, files }: Site, name: string, request: IncomingMessage): Promise<Answer> {
  const whole = path.join(folder, 'assets', name)
  const readsBrotli = /\bbr\b/.test(request.headers['accept-encoding'] ?? '')
  const compressed = readsBrotli && files.existsSync(`${whole}.br`)
  const headers = {
    'Content-Type': TYPES[path.extname(name)] ?? 'application/octet-stream',
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ...(compressed && { 'Content-Encoding': 'br' }),
  }
  return { status: 200, headers, body: await files.readFile(compressed ? `${whole}.br` : whole) }
}

const refusal = (status: number, text: string): Answer => ({
  ...{ status, body: `${text}\n` },
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' },
})

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) })
  response.end(request.method === 'HEAD' ? undefined : body)
}
