// Whatever happens to locks, no two owners conflict and nobody waits in vain.
import * as fc from 'fast-check'
import { encodeTable, decodeTable } from '../../../src/locks/encoding'
import { listAllLocksOwners, listLocks, listWaiting } from '../../../src/locks/listing'
import { compareLocks, lockSetOf } from '../../../src/model/lock-names'
import type { Effects } from '../../../src/locks/table'
import type { LockMode, LockName, LockRequest } from '../../../src/model/lock'
import { Desk, ids, job } from './support'
import { checkProperty } from '../../support/effort'

const LOCKS = [
  'cluster/BGL',
  'instance/[lockset]',
  'instance/a',
  'instance/b',
  'node/[lockset]',
  'node/a',
  'node/b',
  'node-res/a',
  'cluster/config',
]
const OWNERS = [1, 2, 3, 4, 5]

const owner = fc.constantFrom(...OWNERS)
const mode = fc.constantFrom<LockMode>('shared', 'exclusive')
const lock = fc.constantFrom(...LOCKS)
const request = fc.uniqueArray(
  fc.tuple(lock, fc.oneof({ weight: 3, arbitrary: mode }, { weight: 1, arbitrary: fc.constant('release' as const) })),
  { selector: ([name]) => name, minLength: 1, maxLength: 3 },
)
const priority = fc.constantFrom(-10, 0, 10)

type Act = (desk: Desk) => Effects
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(owner, priority, request).map(
      ([id, p, r]) =>
        (d: Desk) =>
          d.wait(id, p, ...r),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(owner, request).map(
      ([id, r]) =>
        (d: Desk) =>
          d.ask(id, ...r),
    ),
  },
  { weight: 3, arbitrary: owner.map((id) => (d: Desk) => d.free(id)) },
  { weight: 1, arbitrary: owner.map((id) => (d: Desk) => d.cancel(id)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('freeLevel' as const, 'downgrade' as const), owner, fc.constantFrom('node', 'instance'))
      .map(
        ([kind, id, level]) =>
          (d: Desk) =>
            d.level(kind, id, level === 'node' ? 'node' : 'instance'),
      ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(owner, fc.array(lock)).map(
      ([id, l]) =>
        (d: Desk) =>
          d.intersect(id, ...l),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(owner, fc.nat(3), fc.array(fc.tuple(lock, mode), { maxLength: 4 })).map(
      ([id, count, l]) =>
        (d: Desk) =>
          d.takeFree(id, count, ...l),
    ),
  },
)

/** Refused requests are events as well: they must change nothing. */
function perform(desk: Desk, action: Act): Effects | undefined {
  const before = encodeTable(desk.table)
  try {
    return action(desk)
  } catch {
    expect(encodeTable(desk.table)).toBe(before)
    return undefined
  }
}

const run = (check: (desk: Desk, action: Act) => void) =>
  checkProperty(
    fc.property(fc.array(act, { maxLength: 40 }), (actions) => {
      const desk = new Desk()
      for (const action of actions) check(desk, action)
    }),
    { numRuns: 200 },
  )

/** Ganeti's rules, written down as plainly as possible over the listing. */
function standsInTheWay(desk: Desk, id: number, wanted: readonly LockRequest[]): boolean {
  return listAllLocksOwners(desk.table).some(([name, owners]) =>
    owners.some(([client, held]) => client[0] !== id && wanted.some((part) => clash(part, name, held))),
  )
}

function clash([wanted, mode]: LockRequest, held: LockName, heldMode: LockMode): boolean {
  if (mode === 'release' || (mode === 'shared' && heldMode === 'shared')) return false
  return wanted === held || lockSetOf(wanted) === held || lockSetOf(held) === wanted
}

const isForCluster = ([name, mode]: LockRequest) => name === 'cluster/BGL' && mode === 'exclusive'

/** Brute force: whether a waiting request could be granted, with the rule against starvation. */
function isGrantable(desk: Desk, waiting: ReturnType<typeof listWaiting>, index: number): boolean {
  const entry = waiting[index]
  if (entry === undefined) return false
  const [prio, client, wanted] = entry
  if (standsInTheWay(desk, Number(client[0]), wanted)) return false
  const sequence = (i: number) => desk.table.waiting.get(JSON.stringify(waiting[i]?.[1]))?.sequence ?? -1
  const heldBack = waiting.some(
    ([otherPrio, , other], i) => sequence(i) < sequence(index) && otherPrio <= prio && other.some(isForCluster),
  )
  const holdsNothing = listLocks(desk.table, client).length === 0
  const exempt = wanted.every(([name, mode]) => mode === 'release' || name === 'cluster/config')
  return !(heldBack && holdsNothing && !exempt)
}

test('no two owners ever hold conflicting locks', () => {
  run((desk, action) => {
    perform(desk, action)
    for (const id of OWNERS) expect(standsInTheWay(desk, id, listLocks(desk.table, job(id)))).toBe(false)
  })
})

test('no request waits that could be granted', () => {
  run((desk, action) => {
    perform(desk, action)
    const waiting = listWaiting(desk.table)
    waiting.forEach((_, index) => expect(isGrantable(desk, waiting, index)).toBe(false))
  })
})

test('a request that waited is granted, withdrawn, or still waits', () => {
  run((desk, action) => {
    const before = ids(listWaiting(desk.table).map(([, client]) => client))
    const effects = perform(desk, action)
    if (effects === undefined) return
    const after = ids(listWaiting(desk.table).map(([, client]) => client))
    const granted = ids(effects.granted)
    const missing = before.filter((id) => !after.includes(id) && !granted.includes(id))
    expect(missing.length).toBe(effects.withdrawn ? 1 : 0)
    for (const id of granted) expect(after).not.toContain(id)
  })
})

test('requests for the same locks are granted by priority, then in order of arrival', () => {
  checkProperty(
    fc.property(fc.array(fc.tuple(priority, mode), { minLength: 1, maxLength: 12 }), (waiters) => {
      const desk = new Desk()
      desk.ask(0, ['node/a', 'exclusive'])
      waiters.forEach(([p], i) => desk.wait(i + 1, p, ['node/a', 'exclusive']))
      const expected = waiters.map(([p], i) => ({ p, id: i + 1 })).sort((a, b) => a.p - b.p || a.id - b.id)
      const order: number[] = []
      for (let last: number | undefined = 0; last !== undefined;) {
        last = ids(desk.free(last).granted).map(Number)[0]
        if (last !== undefined) order.push(last)
      }
      expect(order).toEqual(expected.map(({ id }) => id))
    }),
  )
})

test('when every owner has died nothing is left', () => {
  checkProperty(
    fc.property(fc.array(act, { maxLength: 40 }), fc.shuffledSubarray(OWNERS, { minLength: 5 }), (actions, deaths) => {
      const desk = new Desk()
      for (const action of actions) perform(desk, action)
      for (const id of deaths) desk.free(id)
      // A request that waited was granted by an earlier death to an owner that then died; some were granted later.
      for (const id of deaths) desk.free(id)
      expect(encodeTable(desk.table)).toBe('[[],[]]')
      const { locks, waiting, blockedOn, clusterRequests, owners } = desk.table
      expect([locks, waiting, blockedOn, clusterRequests, owners].map(({ size }) => size)).toEqual([0, 0, 0, 0, 0])
    }),
    { numRuns: 100 },
  )
})

test('a table that is saved and loaded behaves as before', () => {
  checkProperty(
    fc.property(fc.array(act, { maxLength: 30 }), (actions) => {
      const desk = new Desk()
      for (const action of actions) perform(desk, action)
      const loaded = new Desk(decodeTable(encodeTable(desk.table), 1, 1))
      expect(encodeTable(loaded.table)).toBe(encodeTable(desk.table))
      for (const id of OWNERS)
        expect(new Set(ids(loaded.free(id).granted))).toEqual(new Set(ids(desk.free(id).granted)))
      expect(listAllLocksOwners(loaded.table)).toEqual(listAllLocksOwners(desk.table))
    }),
    { numRuns: 100 },
  )
})

test('owners that follow the order never wait for each other in a circle', () => {
  run((desk, action) => {
    perform(desk, action)
    // Upgrades of a lock that two owners share are the one circle that Ganeti's order allows.
    const upgrades = listWaiting(desk.table).some(([, client, wanted]) =>
      wanted.some(
        ([name, m]) => m !== 'release' && listLocks(desk.table, client).some(([held]) => isRelated(held, name)),
      ),
    )
    if (!upgrades && desk.table.waiting.size > 0) {
      const waiters = new Set(desk.table.waiting.keys())
      const free = [...desk.table.owners.keys()].filter((key) => !waiters.has(key))
      expect(free.length).toBeGreaterThan(0)
    }
  })
})

const isRelated = (held: LockName, wanted: LockName) =>
  compareLocks(held, wanted) === 0 || lockSetOf(held) === wanted || lockSetOf(wanted) === held
