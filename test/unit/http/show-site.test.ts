// The console's files are served with a policy that admits nothing else.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { createApplication } from '../../../src/http/application'
import { securityHeaders } from '../../../src/http/security-headers'
import { showSite } from '../../../src/http/show-site'
import { systemFiles as files } from '../../../src/lib/files'
import { systemRandom as random } from '../../../src/lib/random'
import { requestTo } from '../../support/request-to'

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

const site = (from = folder) =>
  requestTo(createApplication().use('/ui', securityHeaders(), showSite({ folder: from, files, random })))

test('every address shows the page, whose policy admits only this server and the styles of this answer', async () => {
  const nonceAt = async (url: string): Promise<string> => {
    const { headers, text } = await site()
      .get(url)
      .expect(200)
      .expect('Content-Type', 'text/html; charset=utf-8')
      .expect('Cache-Control', 'no-store')
      .expect('X-Frame-Options', 'DENY')
      .expect('X-Content-Type-Options', 'nosniff')
    const [, nonce = ''] = /content="(\w{32})"/.exec(text) ?? []
    const policy = headers['content-security-policy']
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}';`)
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';.* frame-ancestors 'none'$/)
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    return nonce
  }
  expect(await nonceAt('/ui/')).not.toBe(await nonceAt('/ui/instances/web1.example.com?status=up'))
})

test('a file is kept for good by who has it, and is sent compressed to who can read that', async () => {
  const file = '/ui/assets/main-ab12.js'
  const whole = await site()
    .get(file)
    .set('Accept-Encoding', 'gzip')
    .expect(200, SCRIPT)
    .expect('Content-Type', 'text/javascript; charset=utf-8')
    .expect('Cache-Control', 'public, max-age=31536000, immutable')
    .expect('Vary', 'Accept-Encoding')
  expect(whole.headers).not.toHaveProperty('content-encoding')
  await site().get(file).set('Accept-Encoding', 'gzip, br').expect(200, SCRIPT).expect('Content-Encoding', 'br')
  const head = await site().head(file).set('Accept-Encoding', 'gzip').expect('Content-Length', String(SCRIPT.length))
  expect(head.text).toBeUndefined()
})

test('nothing outside its folder is sent, and what is not there is told', async () => {
  for (const name of ['..', '.', '../secret.txt', '%2e%2e%2fsecret.txt', '..%2fsecret.txt', '/etc/passwd'])
    expect((await site().get(`/ui/assets/${name}`)).text).not.toMatch(/secret$|root:/)
  await site()
    .get('/ui/assets/main-cd34.js')
    .expect(404, /load the page again/)
  await site(path.join(folder, 'nowhere'))
    .get('/ui/')
    .expect(404, /npm run build/)
  await site().post('/ui/').expect(405).expect('Allow', 'GET, HEAD')
})
