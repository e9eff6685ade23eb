// Everything that grows has a bound. What can grow is listed in test/support/growing.ts, which test/tidy.test.ts keeps complete; here what
// is bounded by a number is filled beyond it.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../src/lib/files'
import { LoginTurns } from '../src/daemons/rapi/login-turns'
import { UsersFile } from '../src/daemons/rapi/users'
import { Sessions } from '../src/daemons/rapi/v3/sessions'
import { CountedLog } from '../src/lib/counted-log'
import { systemClock } from '../src/lib/clock'
import { silentLog } from '../src/lib/log'
import { LOGIN_ADDRESSES_MAX, LOGINS_KEPT_MAX, SESSIONS_MAX, SESSIONS_PER_USER_MAX } from '../src/model/limits/logins'
import { PLANS_MAX, PLANS_PER_USER_MAX } from '../src/model/limits/plans'
import { IDEMPOTENCY_KEYS_PER_USER_MAX } from '../src/model/limits/rapi-v3'
import { IdempotencyKeys } from '../src/services/jobs/idempotency'
import { Plans } from '../src/services/jobs/plans'
import { systemRandom } from '../src/lib/random'
import { GROWING_FILES, GROWING_TABLES } from './support/growing'

const LIMITS = path.join(__dirname, '../src/model/limits')
const limits = fs
  .readdirSync(LIMITS)
  .flatMap((area) => [...fs.readFileSync(path.join(LIMITS, area), 'utf8').matchAll(/^export const (\w+)/gm)])
  .map(([, name = '']) => name)

test('a limit is in one area only', () => {
  expect(limits.filter((name, at) => limits.indexOf(name) !== at)).toEqual([])
})

test('bounds that are numbers have their line among the limits', () => {
  const bounds = [...Object.values(GROWING_TABLES).flatMap(Object.values), ...GROWING_FILES.map(([, bound]) => bound)]
  const named = bounds.flatMap((bound) => [...bound.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name))
  expect(named.length).toBeGreaterThan(20)
  const missing = named.filter((name) => !limits.includes(name) && name !== 'REASONS_MAX')
  expect(missing).toEqual([])
})

const BEYOND = 50
const sizeOf = (object: object, field: string): number => (Reflect.get(object, field) as ReadonlySet<unknown>).size

describe('is filled beyond its bound:', () => {
  test('whoever guesses passwords, and whoever was right', async () => {
    const clock = { ...systemClock, monotonic_ms: () => 0, sleep: () => Promise.resolve() }
    const turns = new LoginTurns(clock, silentLog)
    for (let at = 0; at < LOGIN_ADDRESSES_MAX + BEYOND; at++) {
      const address = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`
      await turns.take(address, { user: `wrong${at}`, shown: 'x' }, () => Promise.resolve(undefined))
      await turns.take(`11${address.slice(2)}`, { user: `right${at}`, shown: 'x' }, () => Promise.resolve(true))
    }
    for (const field of ['addresses', 'users', 'familiar'])
      expect([field, sizeOf(turns, field) <= LOGIN_ADDRESSES_MAX]).toEqual([field, true])
    expect(sizeOf(turns, 'underWay')).toBe(0)
  })

  test('logins that are known again', () => {
    const folder = fs.mkdtempSync(path.join(fs.realpathSync('/tmp'), 'gantry-users-'))
    const file = path.join(folder, 'users')
    const count = LOGINS_KEPT_MAX + BEYOND
    fs.writeFileSync(file, Array.from({ length: count }, (_, at) => `user${at} password write`).join('\n'))
    const users = new UsersFile(file, { files: systemFiles, random: systemRandom, log: silentLog })
    for (let at = 0; at < count; at++) expect(users.verify({ name: `user${at}`, password: 'password' })).toBeDefined()
    expect(sizeOf(users, 'shown')).toBeLessThanOrEqual(LOGINS_KEPT_MAX)
    fs.rmSync(folder, { recursive: true })
  })

  test('sessions of the console', () => {
    const sessions = new Sessions({ clock: systemClock, random: systemRandom })
    const begin = (user: string) => {
      const identity = { user, token: null, permissions: [] }
      return sessions.begin({ identity, again: () => Promise.resolve(identity) })
    }
    for (let at = 0; at < SESSIONS_PER_USER_MAX + BEYOND; at++) begin('user')
    expect(sizeOf(sessions, 'open')).toBe(SESSIONS_PER_USER_MAX)
    for (let at = 0; at < SESSIONS_MAX + BEYOND; at++) begin(`user${at}`)
    expect(sizeOf(sessions, 'open')).toBe(SESSIONS_MAX)
  })

  test('keys of submissions', async () => {
    const queue = { archived: { newestFirst: () => [] }, all: () => [] }
    const disk = { read: () => Promise.resolve(Buffer.from('secret')) }
    const keys = new IdempotencyKeys({ queue, clock: systemClock, disk, paths: {} } as never)
    for (let at = 0; at < IDEMPOTENCY_KEYS_PER_USER_MAX + BEYOND; at++)
      await keys.once('user', `key ${at}`, 'digest', () => Promise.resolve(at))
    const [ofUser] = (Reflect.get(keys, 'known') as ReadonlyMap<string, ReadonlyMap<string, unknown>>).values()
    expect([ofUser?.size, sizeOf(keys, 'inFlight')]).toEqual([IDEMPOTENCY_KEYS_PER_USER_MAX, 0])
  })

  test('plans', () => {
    const plans = new Plans({ clock: systemClock, random: systemRandom } as never)
    const store = (user: string) =>
      plans.store({ user, token: null, permissions: ['*'] }, [{ OP_ID: 'OP_TEST_DELAY' }], [])
    for (let at = 0; at < PLANS_PER_USER_MAX + BEYOND; at++) store('user')
    expect(sizeOf(plans, 'stored')).toBe(PLANS_PER_USER_MAX)
    for (let at = 0; at < PLANS_MAX + BEYOND; at++) store(`user${at}`)
    expect(sizeOf(plans, 'stored')).toBe(PLANS_MAX)
  })

  test('reasons that are counted', () => {
    const clock = { ...systemClock, after: () => ({ cancel: () => undefined }) }
    const counted = new CountedLog({ clock, log: silentLog, every_s: 1 }, 'refused')
    for (let at = 0; at < 1000; at++) counted.add(`reason ${at}`, {})
    expect(sizeOf(counted, 'counts')).toBeLessThanOrEqual(11)
  })
})
