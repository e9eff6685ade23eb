// The client of monitoring daemons against daemons that misbehave.
import { systemClock } from '../../../../src/lib/clock'
import { askMond, MondFailure } from '../../../../src/rpc/mond/client'
import { type MISBEHAVIOUR, MondDoubles } from '../../../support/mond-double'

const doubles = new MondDoubles()
afterAll(() => doubles.close())

const bounds = { clock: systemClock, limit_s: 60, bytes_max: 4 << 20 }
const failure = (requested: Promise<unknown>): Promise<unknown> =>
  requested.then(
    () => 'answered',
    (error: unknown) => (error instanceof MondFailure ? [error.kind, error.message] : error),
  )

test('an answer comes with the time of the node', async () => {
  const date = new Date('2026-11-21T08:00:00Z')
  const endpoint = await doubles.answering(
    () => [],
    () => date,
  )
  expect(await askMond(endpoint, '/1/report/all', bounds)).toEqual({ text: '[]', date_ms: date.getTime() })
})

test('where nothing listens, that is told with the address', async () => {
  expect(await failure(askMond(await doubles.dead(), '/', bounds))).toEqual([
    ...['refused', expect.stringMatching(/^nothing listens on 127\.0\.0\.1:\d+: is ganeti-mond running there\?$/)],
  ])
})

test.each<[keyof typeof MISBEHAVIOUR, string, RegExp]>([
  ['not HTTP', 'bad', /does not speak HTTP/],
  ['hangs up', 'refused', /closed the connection before it answered/],
  ['hangs up within its answer', 'bad', /closed the connection within its answer/],
  ['refuses', 'refused', /HTTP status 503/],
  ['leads elsewhere', 'refused', /HTTP status 302/],
  ['sends 10 MB', 'bad', /longer than 4194304 bytes/],
])('one that %s is %s', async (behaviour, kind, text) => {
  const endpoint = await doubles.misbehaving(behaviour)
  expect(await failure(askMond(endpoint, '/', bounds))).toEqual([kind, expect.stringMatching(text)])
})

test.each<[keyof typeof MISBEHAVIOUR, string, RegExp]>([
  ['is silent', 'silent', /^no answer within 0\.1 s$/],
  ['never ends', 'bad', /^its answer did not end within 0\.1 s$/],
  ['announces 10 MB', 'bad', /^its answer did not end within 0\.1 s$/],
])('one that %s is waited for no longer than the limit', async (behaviour, kind, text) => {
  const endpoint = await doubles.misbehaving(behaviour)
  const requested = askMond(endpoint, '/', { ...bounds, limit_s: 0.1 })
  expect(await failure(requested)).toEqual([kind, expect.stringMatching(text)])
})

test('an answer for which there is no room is not read', async () => {
  const endpoint = await doubles.answering(() => [])
  const requested = askMond(endpoint, '/', { ...bounds, hasRoom: () => false })
  expect(await failure(requested)).toEqual(['bad', expect.stringContaining('all nodes together are too long')])
})
