// The console's files are served with a policy that admits nothing else.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { showSite } from '../../../src/http/show-site'
import { systemFiles as files } from '../../../src/lib/files'
import { systemRandom as random } from '../../../src/lib/random'

const folder = fs.mkdtempSync(path.join(tmpdir(), 'gantry-site-'))
const SCRIPT = 'console.log(1)'

beforeAll(() => {
  fs.mkdirSync(path.join(folder, 'assets'))
  fs.writeFileSync(path.join(folder, 'index.html'), '<meta name="nonce" content="@nonce@">')
  fs.writeFileSync(path.join(folder, 'assets/main-ab12.js'), SCRIPT)
  fs.writeFileSync(path.join(folder, 'assets/main-ab12.js.br'), brotliCompressSync(SCRIPT))
  fs.writeFileSync(path.join(folder, 'secret.txt'), 'secret')
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

async function ask(url: string, { method = 'GET', headers = {}, from = folder } = {}) {
  const sent = { status: 0, headers: {} as Record<string, unknown>, body: undefined as Buffer | string | undefined }
  const response = {
    writeHead: (status: number, given: object) => Object.assign(sent, { status, headers: { ...given } }),
    end: (body?: Buffer | string) => void (sent.body = body),
  }
  await showSite({ folder: from, files, random })(
    { method, url, headers } as unknown as IncomingMessage,
    response as unknown as ServerResponse,
  )
  return sent
}

test('every address shows the page, whose policy admits only this server and the styles of this answer', async () => {
  const pages = [await ask('/ui/'), await ask('/ui/instances/web1.example.com?status=up')]
  const nonces = pages.map(({ status, headers, body }) => {
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      ...[200, 'text/html; charset=utf-8', 'no-store'],
    ])
    const [, nonce = ''] = /content="(\w{32})"/.exec(String(body)) ?? []
    const policy = String(headers['Content-Security-Policy'])
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`)
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';.* frame-ancestors 'none'$/)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers).toMatchObject({ 'X-Frame-Options': 'DENY', 'X-Content-Type-Options': 'nosniff' })
    return nonce
  })
  expect(nonces[0]).not.toBe(nonces[1])
})

test('a file is kept for good by who has it, and is sent compressed to who can read that', async () => {
  const whole = await ask('/ui/assets/main-ab12.js')
  expect([whole.status, String(whole.body), whole.headers['Content-Encoding']]).toEqual([200, SCRIPT, undefined])
  expect(whole.headers).toMatchObject({
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
  })
  const short = await ask('/ui/assets/main-ab12.js', { headers: { 'accept-encoding': 'gzip, br' } })
  expect(short.headers['Content-Encoding']).toBe('br')
  expect(String(brotliDecompressSync(short.body as Buffer))).toBe(SCRIPT)
  const head = await ask('/ui/assets/main-ab12.js', { method: 'HEAD' })
  expect([head.status, head.headers['Content-Length'], head.body]).toEqual([200, SCRIPT.length, undefined])
})

test('nothing outside its folder is sent, and what is not there is told', async () => {
  for (const name of ['..', '.', '../secret.txt', '%2e%2e%2fsecret.txt', '..%2fsecret.txt', '/etc/passwd'])
    expect(String((await ask(`/ui/assets/${name}`)).body)).not.toMatch(/secret$|root:/)
  const gone = await ask('/ui/assets/main-cd34.js')
  expect([gone.status, String(gone.body)]).toEqual([404, expect.stringContaining('load the page again')])
  const unbuilt = await ask('/ui/', { from: path.join(folder, 'nowhere') })
  expect([unbuilt.status, String(unbuilt.body)]).toEqual([404, expect.stringContaining('npm run build')])
  const changed = await ask('/ui/', { method: 'POST' })
  expect([changed.status, changed.headers['Allow']]).toEqual([405, 'GET, HEAD'])
})
