// Pages of one browser learn of each other that somebody has signed in or out, and ask the server only then.
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

const ANNA = {
  user: 'anna',
  token: null,
  csrf: 'new',
  permissions: [],
  scope: null,
  beyond_scope: [],
  empty_kinds: [],
  idle_s: 1,
}
const RELOADS: string[] = []

let answer: readonly [number, unknown] = [200, ANNA]
const requested = consoleServer(() => answer)

/** What other pages say, and what this one says to them. */
const line: { hear?: (message: { data: unknown }) => void; said: unknown[] } = { said: [] }
class Line {
  set onmessage(hear: (message: { data: unknown }) => void) {
    line.hear = hear
  }
  postMessage(message: unknown) {
    line.said.push(message)
  }
}
Object.assign(globalThis, { BroadcastChannel: Line })
Object.assign(Reflect.get(globalThis, 'location') as object, {
  reload: () => RELOADS.push('reload'),
  assign: (url: string) => RELOADS.push(url),
})

interface SignedIn {
  readonly state: string
  readonly session?: object
}
const { joinOtherPages, signIn, signOut } = consoleModule<{
  joinOtherPages(): void
  signIn(credentials: object): Promise<void>
  signOut(everywhere: boolean): Promise<void>
}>('api/session.ts')
const { sessionStore } = consoleModule<{
  readonly sessionStore: { open(session: object): void; end(why: string): void; forget(): void; get(): SignedIn }
}>('api/session-store.ts')

const settled = () => new Promise(setImmediate)
async function reported(message: unknown): Promise<SignedIn> {
  line.hear?.({ data: message })
  await settled()
  return sessionStore.get()
}

beforeAll(joinOtherPages)
beforeEach(() => {
  for (const list of [requested, line.said, RELOADS]) list.splice(0)
  answer = [200, ANNA]
  sessionStore.open({ ...ANNA, csrf: 'old' })
})

test('a page that asks for the password goes on when another one has signed in', async () => {
  sessionStore.end('over')
  await settled()
  expect([sessionStore.get().state, requested.length]).toEqual(['ended', 0])
  expect(await reported('signed in')).toEqual({ state: 'open', session: ANNA })
  expect(RELOADS).toEqual([])
})

test('so does one where nobody was signed in yet, and one that still has the former session', async () => {
  expect(await reported('signed in')).toEqual({ state: 'open', session: ANNA })
  sessionStore.forget()
  expect(await reported('signed in')).toEqual({ state: 'open', session: ANNA })
})

test('what somebody has typed is not taken over by another user', async () => {
  answer = [200, { ...ANNA, user: 'bert' }]
  sessionStore.end('over')
  expect(await reported('signed in')).toMatchObject({ state: 'ended', session: { user: 'anna' } })
  expect(RELOADS).toEqual([])
})

test('a page whose session another one has ended asks for the password at once', async () => {
  answer = [401, { status: 401, detail: 'there is no session' }]
  expect(await reported('signed out')).toMatchObject({ state: 'ended', session: { user: 'anna' } })
  requested.splice(0)
  await reported('signed out')
  expect(requested).toEqual([])
})

test('a server that is away changes nothing', async () => {
  answer = [503, { status: 503, detail: 'away' }]
  sessionStore.end('over')
  expect((await reported('signed in')).state).toBe('ended')
})

test('the others are told of signing in and of signing out, and not of a refusal', async () => {
  await signIn({ user: 'anna', password: 'x' })
  answer = [401, { status: 401, detail: 'no' }]
  await signIn({ user: 'anna', password: 'y' }).catch(() => undefined)
  answer = [200, {}]
  await signOut(false)
  expect(line.said).toEqual(['signed in', 'signed out'])
})
