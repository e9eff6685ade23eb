// Signing in: in words for people, and without a request that is known to be refused.
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

const kept = new Map<string, string>()
Object.assign(globalThis, {
  localStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  },
})

const SESSION = { user: 'anna', token: null, csrf: 'x', permissions: [] }
let isGood = false
let user = SESSION.user
const requested = consoleServer(() => (isGood ? [200, { ...SESSION, user }] : [401, { detail: 'Unauthorized' }]))
interface Module {
  resumeSession(): Promise<void>
  signIn(credentials: object): Promise<void>
}
const { resumeSession, signIn } = consoleModule<Module>('api/session.ts')
const { sessionStore } = consoleModule<{
  sessionStore: { get(): object; end(why: string): void; mayHaveSession(): boolean }
}>('api/session-store.ts')

test('the first visit asks for no session', async () => {
  await resumeSession()
  expect([requested.length, sessionStore.get()]).toEqual([0, { state: 'none' }])
})

test('a wrong password, or token, is told as one', async () => {
  await expect(signIn({ user: 'anna', password: 'x' })).rejects.toThrow('The user or the password is wrong.')
  await expect(signIn({ token: 'x' })).rejects.toThrow('The token is wrong, has expired or was revoked.')
})

test('after a sign-in the session is asked for at the next visit', async () => {
  isGood = true
  await signIn({ user: 'anna', password: 'right' })
  requested.length = 0
  await resumeSession()
  expect(requested.map(({ method, path }) => [method, path])).toEqual([['GET', '/3/session']])
})

test('another user finds the own session after the page was loaded anew', async () => {
  let reloads = 0
  Object.assign(globalThis, { location: { reload: () => reloads++ } })
  sessionStore.end('It has ended')
  user = 'bert'
  await signIn({ user: 'bert', password: 'right' })
  expect([reloads, sessionStore.mayHaveSession()]).toEqual([1, true])
})
