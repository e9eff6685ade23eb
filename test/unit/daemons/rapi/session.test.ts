// Sessions of browsers: who gets one, what it may do, and when it ends.
import { writeFileSync } from 'node:fs'
import { systemClock } from '../../../../src/lib/clock'
import { SESSION_IDLE_S, SESSION_S_MAX } from '../../../../src/model/limits/logins'
import type { Master } from '../../../../src/rpc/luxi/master'
import { type Answer, basic, Harness, RecordedMaster, USERS } from './harness'

const RIGHTS = {
  permissions: ['instances.list', 'tokens.revoke'],
  scope: { tags: ['web'], groups: [] },
  beyond_scope: ['cluster.modify'],
  empty_kinds: ['node'],
}
const gantry = {
  rights: () => Promise.resolve(RIGHTS),
  identify: (secret: string) =>
    Promise.resolve(secret === tokens.good ? { id: 't1', user: 'reader', permissions: ['*'] } : null),
  removeToken: (_identity: unknown, id: string) => Promise.resolve(void removed.push(id)),
}
const tokens: { good: string | undefined } = { good: 'secret-of-t1' }
const removed: string[] = []
let harness: Harness
let passed_ms = 0

beforeAll(async () => {
  const clock = { ...systemClock, monotonic_ms: () => systemClock.monotonic_ms() + passed_ms }
  const master = Object.assign(new RecordedMaster(), { gantry }) as unknown as Master
  harness = await Harness.start(master, { clock })
})
afterAll(() => harness.stop())
afterEach(() => void removed.splice(0))

function ask(method: string, url: string, headers: Record<string, string | undefined> = {}): Promise<Answer> {
  const input = Object.entries({ Host: 'x', Connection: 'close', ...headers }).filter(
    ([, value]) => value !== undefined,
  )
  const lines = input.map(([name, value]) => `${name}: ${value}`)
  return harness.raw([`${method} ${url} HTTP/1.1`, ...lines, '', ''].join('\r\n'))
}

interface Page {
  cookie: string
  csrf: string
}

async function signIn(authorization: string, more: Record<string, string> = {}): Promise<Page> {
  const answer = await ask('POST', '/3/session', { Authorization: authorization, ...more })
  expect(answer.status).toBe(201)
  const [cookie = ''] = String(answer.headers['set-cookie']).split(';')
  return { cookie, csrf: String(JSON.parse(answer.body).csrf) }
}

const look = async ({ cookie }: Page) => (await ask('GET', '/3/session', { Cookie: cookie })).status
const revoke = (page: Page, more: Record<string, string | undefined> = {}) =>
  ask('DELETE', '/3/tokens/t9', { Cookie: page.cookie, 'X-CSRF-Token': page.csrf, ...more })
const detail = ({ body }: Answer) => String(JSON.parse(body).detail)

test('a session begins with a password, and its cookie is out of reach of scripts, other sites and plain HTTP', async () => {
  const answer = await ask('POST', '/3/session', { Authorization: basic('admin', 'secret') })
  expect(answer.headers['set-cookie']).toMatch(
    /^__Host-gantry-session=[0-9a-f]{64}; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
  )
  const reported = JSON.parse(answer.body)
  expect(reported).toEqual({
    ...{ user: 'admin', token: null, idle_s: SESSION_IDLE_S },
    ...{ ...RIGHTS, csrf: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })
  const [cookie = ''] = String(answer.headers['set-cookie']).split(';')
  expect(JSON.parse((await ask('GET', '/3/session', { Cookie: `other=1; ${cookie}` })).body)).toEqual(reported)
  // The secret is told in the cookie alone.
  expect(answer.body).not.toContain(cookie.split('=')[1])
})

test('a wrong password begins none, and a page is not asked for it by the browser', async () => {
  const wrong = { Authorization: basic('admin', 'wrong') }
  const answer = await ask('POST', '/3/session', { ...wrong, 'X-CSRF-Token': 'none' })
  expect([answer.status, answer.headers['set-cookie']]).toEqual([401, undefined])
  expect(answer.headers['www-authenticate']).toBe('Session realm="Gantry"')
  expect((await ask('GET', '/3/session')).headers['www-authenticate']).toContain('Basic')
})

test('a change is refused without the token of its session, with that of another one, and from a page of another site', async () => {
  const page = await signIn(basic('admin', 'secret'))
  const other = await signIn(basic('admin', 'secret'))
  for (const token of [undefined, '', 'x', other.csrf]) {
    const answer = await revoke(page, { 'X-CSRF-Token': token })
    expect([answer.status, detail(answer)]).toEqual([403, expect.stringMatching('must have the header X-CSRF-Token')])
  }
  expect((await revoke(page, { Origin: 'https://evil.example' })).status).toBe(403)
  expect((await revoke(page, { 'Sec-Fetch-Site': 'cross-site' })).status).toBe(403)
  expect(removed).toEqual([])
  expect((await revoke(page)).status).toBe(204)
  expect(removed).toEqual(['t9'])
})

test('a cookie that somebody else has chosen is no session, also after whoever carries it has signed in', async () => {
  const chosen = `__Host-gantry-session=${'ab'.repeat(32)}`
  const page = await signIn(basic('admin', 'secret'), { Cookie: chosen })
  expect(page.cookie).not.toBe(chosen)
  expect(await look({ cookie: chosen, csrf: '' })).toBe(401)
  expect(await look(page)).toBe(200)
})

test('a session cannot begin another, which would outlive it', async () => {
  const { cookie, csrf } = await signIn(basic('admin', 'secret'))
  expect((await ask('POST', '/3/session', { Cookie: cookie, 'X-CSRF-Token': csrf })).status).toBe(400)
})

test('it ends when it is signed out, and everywhere when that is asked for', async () => {
  const [first, second, third] = [
    await signIn(basic('admin', 'secret')),
    await signIn(basic('admin', 'secret')),
    await signIn(basic('admin', 'secret')),
  ]
  const other = await signIn(basic('reader', 'foo555'))
  const end = ({ cookie, csrf }: Page, query = '') =>
    ask('DELETE', `/3/session${query}`, { Cookie: cookie, 'X-CSRF-Token': csrf })
  const answer = await end(first)
  expect([answer.status, answer.headers['set-cookie']]).toEqual([204, expect.stringContaining('Max-Age=0')])
  expect([await look(first), await look(second), await look(third)]).toEqual([401, 200, 200])
  expect((await end(second, '?everywhere=maybe')).status).toBe(400)
  const fourth = await signIn(basic('admin', 'secret'))
  await end(fourth, '?everywhere=false')
  expect([await look(fourth), await look(second)]).toEqual([401, 200])
  await end(second, '?everywhere=true')
  expect([await look(second), await look(third), await look(other)]).toEqual([401, 401, 200])
})

test('it ends when nobody uses it, and after some hours however much it is used', async () => {
  const page = await signIn(basic('admin', 'secret'))
  passed_ms += (SESSION_IDLE_S - 60) * 1000
  expect(await look(page)).toBe(200)
  passed_ms += (SESSION_IDLE_S - 60) * 1000
  expect(await look(page)).toBe(200)
  passed_ms += SESSION_IDLE_S * 1000
  const answer = await ask('GET', '/3/session', { Cookie: page.cookie })
  expect([answer.status, detail(answer)]).toEqual([401, 'The session has ended; sign in again'])

  const busy = await signIn(basic('admin', 'secret'))
  const statuses = new Set<number>()
  for (let at_s = 0; at_s < SESSION_S_MAX; at_s += SESSION_IDLE_S / 2) {
    statuses.add(await look(busy))
    passed_ms += (SESSION_IDLE_S / 2) * 1000
  }
  expect([[...statuses], await look(busy)]).toEqual([[200], 401])
})

test('what a page asks for by itself does not keep it, and is answered as long as it is there', async () => {
  const page = await signIn(basic('admin', 'secret'))
  const byItself = async (more: Record<string, string> = {}) =>
    (await ask('GET', '/3/session', { Cookie: page.cookie, 'X-Unattended': '1', ...more })).status
  passed_ms += (SESSION_IDLE_S - 60) * 1000
  expect(await byItself()).toBe(200)
  // Whoever has it touched the page meanwhile.
  expect(await look(page)).toBe(200)
  passed_ms += (SESSION_IDLE_S - 60) * 1000
  expect(await byItself()).toBe(200)
  passed_ms += 60 * 1000
  expect(await byItself()).toBe(401)
})

test('one of a token ends when the token is revoked', async () => {
  const page = await signIn(`Bearer ${String(tokens.good)}`)
  expect(await look(page)).toBe(200)
  tokens.good = undefined
  expect(await look(page)).toBe(401)
})

test('it ends when the password changes, and with the user', async () => {
  const page = await signIn(basic('admin', 'secret'))
  writeFileSync(harness.usersFile, USERS.replace('admin secret', 'admin changed'))
  harness.rapi.reload()
  const answer = await ask('GET', '/3/session', { Cookie: page.cookie })
  expect([answer.status, detail(answer)]).toEqual([401, 'The password of admin has changed; log in again'])
  const renewed = await signIn(basic('admin', 'changed'))
  writeFileSync(harness.usersFile, USERS.replace('admin secret write', ''))
  harness.rapi.reload()
  expect(await look(renewed)).toBe(401)
})

test('/2 knows passwords only', async () => {
  writeFileSync(harness.usersFile, USERS)
  harness.rapi.reload()
  const { cookie } = await signIn(basic('admin', 'secret'))
  expect((await ask('GET', '/2/info', { Cookie: cookie })).status).toBe(401)
})
