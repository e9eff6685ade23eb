import { systemClock } from '../../../../src/lib/clock'
import { silentLog } from '../../../../src/lib/log'
import { LOGIN_DELAY_S_MAX, LOGIN_FAILURES_FREE } from '../../../../src/model/limits'
import type { Master } from '../../../../src/rpc/luxi/calls'
import { rolesOf } from '../../../../src/daemons/rapi/auth'
import { basic, Harness, RecordedMaster } from './harness'

const slept: number[] = []
const warnings: [unknown, string][] = []
let harness: Harness

beforeAll(async () => {
  const clock = { ...systemClock, sleep: async (delay_ms: number) => void slept.push(delay_ms) }
  const log = Object.assign(Object.create(silentLog) as typeof silentLog, {
    warn: (fields: unknown, text: string) => void warnings.push([fields, text]),
  })
  harness = await Harness.start(new RecordedMaster() as unknown as Master, { clock, log })
})
afterAll(() => harness.stop())

const login = async (password: string) =>
  (await harness.ask('GET', '/2/instances', { as: basic('admin', password), headers: ['Connection: close'] })).status

test('wrong passwords are logged with their address, and answered ever more slowly', async () => {
  for (let attempt = 1; attempt <= LOGIN_FAILURES_FREE + 4; attempt++) expect(await login(`guess ${attempt}`)).toBe(401)
  expect(warnings).toEqual(
    Array.from({ length: LOGIN_FAILURES_FREE + 4 }, (_, index) => [
      { address: '127.0.0.1', failures: index + 1 },
      'login refused',
    ]),
  )
  expect(slept).toEqual([500, 1000, 2000, LOGIN_DELAY_S_MAX * 1000])
  // No password is in the log.
  expect(JSON.stringify(warnings)).not.toContain('guess')
})

test('the right password is not held up, and makes good for what was wrong before', async () => {
  slept.length = 0
  expect(await login('secret')).toBe(200)
  expect(await login('wrong')).toBe(401)
  expect(slept).toEqual([])
})

test('somebody from whom a permission was taken is looked at closely, also with "write"', () => {
  const user = (...options: string[]) => ({ name: 'x', options: new Set(options) })
  expect(rolesOf(user('write'))).toBeUndefined()
  expect(rolesOf(user('write', '-instances.startup'))).toContain('-instances.startup')
})
