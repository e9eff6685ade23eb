// Everything that grows has a bound. What can grow is listed in test/support/growing.ts, which test/tidy.test.ts keeps complete; here what
// is bounded by a number is filled beyond it. And what jobs and requests do all the time looks at as few objects in a large cluster
// as in a small one.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { systemFiles } from '../src/lib/files'
import { applyChange, type NamedChange } from '../src/config/changes'
import { findInstance } from '../src/config/lookup'
import { Reservations } from '../src/config/reservations'
import { slice } from '../src/config/slice'
import { EMPTY_GANTRY } from '../src/config/upgrade'
import { LoginThrottle } from '../src/daemons/rapi/login-throttle'
import { UsersFile } from '../src/daemons/rapi/users'
import { Sessions } from '../src/daemons/rapi/v3/sessions'
import { CountedLog } from '../src/lib/counted-log'
import { systemClock } from '../src/lib/clock'
import { silentLog } from '../src/lib/log'
import type { ConfigData } from '../src/model/config'
import { LOGIN_ADDRESSES_MAX, LOGINS_KEPT_MAX, SESSIONS_MAX, SESSIONS_PER_USER_MAX } from '../src/model/limits/logins'
import { PLANS_MAX, PLANS_PER_USER_MAX } from '../src/model/limits/plans'
import { IDEMPOTENCY_KEYS_PER_USER_MAX } from '../src/model/limits/rapi-v3'
import type { ClientId } from '../src/model/lock'
import { ConfigIndex } from '../src/query/config-index'
import { knownTo, unseenBy } from '../src/services/access/scope'
import { IdempotencyKeys } from '../src/services/jobs/idempotency'
import { Plans } from '../src/services/jobs/plans'
import { seededRandom, systemRandom } from '../src/lib/random'
import { GROWING_FILES, GROWING_TABLES } from './support/growing'
import { clusterOfSize, diskUuidOf, instanceOf, instanceUuidOf, nodeUuidOf } from './support/cluster-of-size'

const LIMITS = path.join(__dirname, '../src/model/limits')
const limits = fs
  .readdirSync(LIMITS)
  .flatMap((area) => [...fs.readFileSync(path.join(LIMITS, area), 'utf8').matchAll(/^export const (\w+)/gm)])
  .map(([, name = '']) => name)

test('a limit is in one area only', () => {
  expect(limits.filter((name, at) => limits.indexOf(name) !== at)).toEqual([])
})

/** Files of lib/ know nothing of the limits of clusters. */
const OF_THEIR_FILES = ['REASONS_MAX', 'SAME_PROGRAM_MAX']

test('bounds that are numbers have their line among the limits', () => {
  const bounds = [...Object.values(GROWING_TABLES).flatMap(Object.values), ...GROWING_FILES.map(([, bound]) => bound)]
  const named = bounds.flatMap((bound) => [...bound.matchAll(/\b[A-Z]+(?:_[A-Z]+)+\b/g)].map(([name]) => name))
  expect(named.length).toBeGreaterThan(20)
  const missing = named.filter((name) => !limits.includes(name) && !OF_THEIR_FILES.includes(name))
  expect(missing).toEqual([])
})

const BEYOND = 50
const sizeOf = (object: object, field: string): number => (Reflect.get(object, field) as ReadonlySet<unknown>).size

describe('is filled beyond its bound:', () => {
  test('whoever guesses passwords, and whoever was right', async () => {
    const clock = { ...systemClock, monotonic_ms: () => 0, sleep: () => Promise.resolve() }
    const turns = new LoginThrottle(clock, silentLog)
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

describe('in a cluster a hundred times as large, the same work costs the same:', () => {
  const owner: ClientId = [1, '/livelock', 1]
  const scope = { tags: ['mine'], groups: [] }

  test.each<[string, (config: ConfigData) => unknown]>([
    ['a new MAC address', (config) => reservations(config).generateMac(owner, null)],
    ['a MAC address that is given', (config) => reservations(config).reserveMac(owner, 'aa:00:00:00:00:01')],
    ['a secret of DRBD', (config) => reservations(config).generateSecret(owner)],
    ['a volume', (config) => reservations(config).reserveVolume(owner, 'vg/new')],
    [
      'minors of DRBD',
      (config) => reservations(config).allocateMinorsFor(owner, 'new', [nodeUuidOf(1), nodeUuidOf(2)]),
    ],
    ['a short name', (config) => findInstance(config, 'inst7')],
    ['a name that nobody has', (config) => findInstance(config, 'nobody')],
    ['the instances of a node', (config) => ConfigIndex.of(config).primaryInstances(nodeUuidOf(3))],
    ['the secondary instances of a node', (config) => ConfigIndex.of(config).secondaryInstances(nodeUuidOf(3))],
    ['what a job reads', (config) => slice(config, { instances: ['inst7'], disks: [diskUuidOf(7)] })],
    ['what a token with a scope knows', (config) => knownTo(scope, config)],
    ['whether a node has hidden instances', (config) => unseenBy(scope, config).secondary(nodeUuidOf(3))],
    [
      'a change of an instance',
      (config) => step(config, ['patchInstance', instanceUuidOf(7), { beparams: { vcpus: 2 } }]),
    ],
    ['a new instance', (config) => step(config, ['addInstance', instanceOf(config, 999_999, 3, [])])],
    ['an instance that goes', (config) => step(config, ['removeInstance', instanceUuidOf(7)])],
    ['a disk that moves', (config) => step(config, ['detachInstanceDisk', instanceUuidOf(7), diskUuidOf(7)])],
    ['a port that is given back', (config) => step(config, ['addTcpUdpPort', 11_000])],
  ])('%s', (_, work) => {
    const [small, large] = [looksOf(work, 100), looksOf(work, 10_000)]
    expect({ small, isSame: large <= small + 10 }).toEqual({ small, isSame: true })
  })
})

const reservations = (config: ConfigData): Reservations => new Reservations(() => config, seededRandom(1))
const step = (config: ConfigData, change: NamedChange) =>
  applyChange({ config, gantry: EMPTY_GANTRY }, change, { now_s: 1, random: seededRandom(1) })

const clusters = new Map<number, { config: ConfigData; seen: Set<object> }>()

/** How many objects the work looks at, when others have done the same before the last change. */
function looksOf(work: (config: ConfigData) => unknown, instances: number): number {
  const { config, seen: observed } = clusters.get(instances) ?? watchedCluster(instances)
  clusters.set(instances, { config, seen: observed })
  work(config)
  const next = step(config, ['addTags', 'instance', instanceUuidOf(5), ['other']]).documents.config
  observed.clear()
  work(next)
  return observed.size
}

function watchedCluster(instances: number): { config: ConfigData; seen: Set<object> } {
  const observed = new Set<object>()
  const watched = <T extends object>(object: T): T =>
    new Proxy(object, { get: (target, key) => (observed.add(target), Reflect.get(target, key) as unknown) })
  return { config: clusterOfSize(instances, watched), seen: observed }
}
