// Whatever happens to locks, no two owners conflict and nobody waits in vain.
import * as fc from 'fast-check'
import { encodeTable, decodeTable } from '../../../src/locks/encoding'
import { blocking, listAllLocksOwners, listLocks, listWaiting } from '../../../src/locks/listing'
import { compareLocks, lockSetOf } from '../../../src/model/lock-names'
import type { Effects } from '../../../src/locks/table'
import type { LockMode, LockName } from '../../../src/model/lock'
import { PlainTable } from './plain-table'
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
  {
    weight: 3,
    arbitrary: fc.tuple(owner, priority).map(
      ([id, p]) =>
        (d: Desk) =>
          d.wait(id, p, ...d.pending(id)),
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

/** The rule against starvation is about requests for the cluster's lock and their priorities. */
const actAtClusterLock: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(owner, priority, mode).map(
    ([id, p, m]) =>
      (d: Desk) =>
        d.wait(id, p, ['cluster/BGL', m]),
  ),
  fc.tuple(owner, priority).map(
    ([id, p]) =>
      (d: Desk) =>
        d.wait(id, p, ...d.pending(id)),
  ),
  owner.map((id) => (d: Desk) => d.free(id)),
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

function run(check: (desk: Desk, action: Act) => void): void {
  for (const acts of [act, actAtClusterLock])
    checkProperty(
      fc.property(fc.array(acts, { maxLength: 40, size: 'max' }), (actions) => {
        const desk = new Desk()
        for (const action of actions) check(desk, action)
      }),
      { numRuns: 80 },
    )
}

/** The table as the plain rules see it. */
function plain(desk: Desk): PlainTable {
  const table = new PlainTable()
  for (const id of OWNERS) table.setHeld(id, listLocks(desk.table, job(id)))
  table.waiting = [...desk.table.waiting.values()]
    .sort((a, b) => a.sequence - b.sequence)
    .map(({ client, priority, request }) => ({ id: Number(client[0]), priority, request }))
  return table
}

test('no two owners ever hold conflicting locks', () => {
  run((desk, action) => {
    perform(desk, action)
    const rules = plain(desk)
    for (const id of OWNERS)
      expect(rules.blockers({ id, priority: 0, request: listLocks(desk.table, job(id)) }).size).toBe(0)
  })
})

test('no request waits that could be granted, and each names those for whom it waits', () => {
  run((desk, action) => {
    perform(desk, action)
    const rules = plain(desk)
    for (const desired of rules.waiting) {
      const blockers = rules.blockers(desired)
      expect(blockers.size).toBeGreaterThan(0)
      const named = blocking(desk.table, job(desired.id)).flatMap(({ holders }) => holders.map(({ client }) => client))
      expect(new Set(ids(named))).toEqual(blockers)
    }
  })
})

test('each event grants what the plain rules grant, in their order, and nobody passes against them', () => {
  run((desk, action) => {
    const rules = plain(desk)
    const effects = perform(desk, action)
    if (effects === undefined || desk.last === undefined) return
    const { id, event } = desk.last
    if (event.kind === 'update') {
      const { granted, blockers } = rules.update(id, event.priority, event.request)
      expect(ids(effects.granted)).toEqual(granted)
      expect(new Set(ids(effects.blockers))).toEqual(blockers)
    } else if (event.kind === 'takeFree') {
      const passed = rules.blockers({ id, priority: 0, request: effects.acquired.map((name) => [name, 'shared']) })
      expect([...passed]).toEqual([])
      expect(effects.granted).toEqual([])
    } else {
      rules.drop(id)
      const kept = new Map(listLocks(desk.table, job(id)))
      expect(ids(effects.granted)).toEqual(rules.setHeld(id, [...kept]))
    }
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
    const upgrades = listWaiting(desk.table).some(([, client, desired]) =>
      desired.some(
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

const isRelated = (held: LockName, desired: LockName) =>
  compareLocks(held, desired) === 0 || lockSetOf(held) === desired || lockSetOf(desired) === held
