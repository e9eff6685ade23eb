// A run over many instances outlives what stands in its way, and is not left unasked.
import { Problem } from '../../../../ui/src/api/problem'
import { consoleModule } from '../../../support/console-actions'
import { consoleServer } from '../../../support/console-server'

const SESSION = { user: 'anna', token: null, csrf: 'x', permissions: [] }

let answer: () => readonly [number, unknown] = () => [202, { id: 1 }]
const requested = consoleServer(({ method }) =>
  method === 'GET'
    ? [200, { items: [{ id: 1, status: 'error', ops: [{ error: { message: 'no room' } }] }] }]
    : answer(),
)

interface Begin {
  cleared(error: unknown): Promise<void> | undefined
  beginBulk(bulk: object, names: readonly string[], body: object, plan?: object): Promise<void>
}
const { cleared, beginBulk } = consoleModule<Begin>('pages/instances/bulk-begin.tsx')
const { BULK } = consoleModule<{ readonly BULK: readonly object[] }>('pages/instances/bulk-actions.ts')
type Store = { readonly sessionStore: { open(session: object): void; end(why: string): void } }
const { sessionStore } = consoleModule<Store>('api/session-store.ts')

beforeEach(() => sessionStore.open(SESSION))

test('an answer about one instance is waited for by nobody', () => {
  for (const status of [400, 403, 404, 409, 412, 500]) expect(cleared(new Problem(status, ''))).toBeUndefined()
  expect(cleared(new Error('defect'))).toBeUndefined()
})

test('a server that is away or full is asked again after a while', async () => {
  jest.useFakeTimers()
  try {
    const over: number[] = []
    for (const status of [0, 429, 502, 503, 504]) void cleared(new Problem(status, ''))?.then(() => over.push(status))
    await jest.advanceTimersByTimeAsync(1000)
    expect(over).toEqual([])
    await jest.advanceTimersByTimeAsync(10_000)
    expect(over).toEqual([0, 429, 502, 503, 504])
  } finally {
    jest.useRealTimers()
  }
})

test('until its user has signed in again a run waits, and goes on', async () => {
  sessionStore.end('over')
  let isOver = false
  const waiting = cleared(new Problem(401, 'over'))?.then(() => (isOver = true))
  await new Promise(setImmediate)
  expect(isOver).toBe(false)
  sessionStore.open(SESSION)
  await waiting
  expect(isOver).toBe(true)
  await cleared(new Problem(401, 'was over'))
})

test('leaving the page is asked about while something is not submitted, whether the run is shown or not', async () => {
  const listeners = new Set<unknown>()
  const during: number[] = []
  Object.assign(globalThis, {
    addEventListener: (type: string, listener: unknown) => type === 'beforeunload' && listeners.add(listener),
    removeEventListener: (_: string, listener: unknown) => listeners.delete(listener),
  })
  answer = () => (during.push(listeners.size), [202, { id: 1 }])
  await beginBulk(BULK[0] ?? {}, ['web1'], {})
  expect([during, listeners.size]).toEqual([[1], 0])
  expect(requested.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
    'POST /3/instances/web1/startup',
    'GET /3/jobs',
  ])
  expect(requested[1]?.path).toContain('include=error')
})

test('each that was planned is submitted with the plan that was shown, and the others without one', async () => {
  requested.splice(0)
  answer = () => [202, { id: 1 }]
  await beginBulk(BULK[0] ?? {}, ['web1', 'web2', 'web3'], {}, { id: 'the plan', names: ['web1', 'web2'] })
  expect(requested.flatMap(({ method, path }) => (method === 'POST' ? [path] : [])).sort()).toEqual([
    '/3/instances/web1/startup?plan=the%20plan',
    '/3/instances/web2/startup?plan=the%20plan',
    '/3/instances/web3/startup',
  ])
})
