// Who is at the page keeps a session, and only one that there is.
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

const SESSION = { user: 'anna', token: null, csrf: 'x', permissions: ['jobs.query'] }

const requested = consoleServer(() => [200, SESSION])
const { sayPresent } = consoleModule<{ sayPresent(): Promise<void> }>('api/client.ts')
type Store = {
  readonly sessionStore: { open(session: object): void; end(why: string): void; forget(): void; get(): object }
}
const { sessionStore } = consoleModule<Store>('api/session-store.ts')

test('the server is not asked for a session while nobody is signed in', async () => {
  await sayPresent()
  sessionStore.forget()
  await sayPresent()
  expect(requested).toEqual([])
})

test('whoever is there learns of the session what is so now, also that there is one again', async () => {
  sessionStore.open({ ...SESSION, permissions: [] })
  await sayPresent()
  expect(sessionStore.get()).toEqual({ state: 'open', session: SESSION })
  sessionStore.end('over')
  await sayPresent()
  expect(sessionStore.get()).toEqual({ state: 'open', session: SESSION })
  expect(requested.map(({ path }) => path)).toEqual(['/3/session', '/3/session'])
})
