// Wrong passwords cost time, and right ones do not.
import { systemClock } from '../../../../src/lib/clock'
import { silentLog } from '../../../../src/lib/log'
import { LOGIN_FAILURES_FREE } from '../../../../src/model/limits/logins'
import type { Master } from '../../../../src/rpc/luxi/master'
import { rolesOf } from '../../../../src/daemons/rapi/auth'
import { basic, Harness, RecordedMaster } from './harness'

const slept: number[] = []
const warnings: [unknown, string][] = []
let harness: Harness

beforeAll(async () => {
  const clock = { ...systemClock, monotonic_ms: () => 0, sleep: async (delay_ms: number) => void slept.push(delay_ms) }
  const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
    warn: (fields: unknown, text: string) => void warnings.push([fields, text]),
  })
  harness = await Harness.start(new RecordedMaster() as unknown as Master, { clock, log })
})
afterAll(() => harness.stop())

const login = async (password: string) =>
  (await harness.ask('GET', '/2/instances', { as: basic('admin', password), headers: ['Connection: close'] })).status

test('wrong passwords are logged with their address, and the next ones wait ever longer', async () => {
  const attempts = LOGIN_FAILURES_FREE + 4
  for (let attempt = 1; attempt <= attempts; attempt++) expect(await login(`guess ${attempt}`)).toBe(401)
  expect(warnings).toEqual(
    Array.from({ length: attempts }, (_, index) => [{ address: '127.0.0.1', failures: index + 1 }, 'login refused']),
  )
  // The clock of this test stands still, so each wait has those before it in it.
  expect(slept.map((delay_ms) => Math.round(delay_ms / 500))).toEqual([1, 3, 7])
  // No password is in the log.
  expect(JSON.stringify(warnings)).not.toContain('guess')
})

test('the right password makes good for what was wrong before, and is not held up again', async () => {
  expect(await login('secret')).toBe(200)
  slept.length = 0
  for (let attempt = 1; attempt <= LOGIN_FAILURES_FREE + 1; attempt++) expect(await login(`guess ${attempt}`)).toBe(401)
  expect(await login('secret')).toBe(200)
  expect(slept).toEqual([])
  // A login that is remembered says nothing new, so it forgives nothing.
  expect(await login('wrong')).toBe(401)
  expect(slept.length).toBe(1)
})

test('too many guesses are refused with the time to wait, in both versions', async () => {
  const ask = (url: string, as: string) => harness.ask('GET', url, { as, headers: ['Connection: close'] })
  for (let status = 401, guess = 1; status === 401; guess++)
    status = (await ask('/2/info', basic('admin', `guess no. ${guess}`))).status
  const refused = await ask('/2/info', basic('admin', 'guess'))
  expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } })
  expect(JSON.parse(refused.body)).toMatchObject({
    code: 429,
    message: expect.stringMatching('127.0.0.1; try again in'),
  })
})

test('somebody from whom a permission was taken is looked at closely, also with "write"', () => {
  const user = (...options: string[]) => ({ name: 'x', options: new Set(options) })
  expect(rolesOf(user('write'))).toBeUndefined()
  expect(rolesOf(user('write', '-instances.startup'))).toContain('-instances.startup')
})
