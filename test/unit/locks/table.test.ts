// The rules of locks case by case: conflicts, order, priorities, deaths.
import { decodeTable, encodeTable } from '../../../src/locks/encoding'
import { blocking, listAllLocks, listAllLocksOwners, listLocks, listWaiting } from '../../../src/locks/listing'
import { LockError } from '../../../src/model/errors'
import { Desk, ids, job } from './support'

const BGL = 'cluster/BGL'

describe('conflicts', () => {
  test('shared holders share, an exclusive one is alone', () => {
    const desk = new Desk()
    expect(desk.ask(1, ['node/a', 'shared']).blockers).toEqual([])
    expect(desk.ask(2, ['node/a', 'shared']).blockers).toEqual([])
    expect(ids(desk.ask(3, ['node/a', 'exclusive']).blockers)).toEqual([1, 2])
    expect(desk.ask(3, ['node/b', 'exclusive']).blockers).toEqual([])
    expect(ids(desk.ask(1, ['node/b', 'shared']).blockers)).toEqual([3])
  })

  test('a lockset conflicts with its members and they with it', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'shared'])
    expect(ids(desk.ask(2, ['node/[lockset]', 'exclusive']).blockers)).toEqual([1])
    expect(desk.ask(2, ['node/[lockset]', 'shared']).blockers).toEqual([])
    expect(ids(desk.ask(3, ['node/b', 'exclusive']).blockers)).toEqual([2])
    expect(desk.ask(3, ['node/b', 'shared']).blockers).toEqual([])
    expect(desk.ask(4, ['instance/[lockset]', 'shared']).blockers).toEqual([])
  })

  test('a shared lockset waits for an exclusive member only', () => {
    const desk = new Desk()
    desk.ask(1, ['instance/a', 'exclusive'])
    desk.ask(2, ['instance/b', 'shared'])
    expect(ids(desk.ask(3, ['instance/[lockset]', 'shared']).blockers)).toEqual([1])
  })

  test('node and node-res locks are apart, and the configuration lock stands alone', () => {
    const desk = new Desk()
    desk.ask(1, ['node/[lockset]', 'exclusive'])
    expect(desk.ask(2, ['node-res/a', 'exclusive']).blockers).toEqual([])
    desk.ask(3, ['cluster/[lockset]', 'exclusive'])
    expect(desk.ask(4, ['cluster/config', 'exclusive']).blockers).toEqual([])
    expect(ids(desk.ask(5, [BGL, 'shared']).blockers)).toEqual([3])
  })

  test('an owner does not conflict with itself', () => {
    const desk = new Desk()
    desk.ask(1, ['node/[lockset]', 'exclusive'])
    expect(desk.ask(1, ['node/a', 'exclusive']).blockers).toEqual([])
  })
})

describe('requests', () => {
  test('an update that is blocked in one part changes nothing', () => {
    const desk = new Desk()
    desk.ask(1, ['node/b', 'exclusive'])
    const effects = desk.ask(2, ['node/a', 'exclusive'], ['node/b', 'shared'])
    expect(effects).toMatchObject({ changed: false, blockers: [job(1)] })
    expect(listLocks(desk.table, job(2))).toEqual([])
  })

  test('asking for what is held already succeeds and changes nothing', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'shared'])
    expect(desk.ask(1, ['node/a', 'shared'])).toMatchObject({ changed: false, blockers: [] })
  })

  test('a release in a request takes effect with it', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'], ['node/b', 'exclusive'])
    desk.ask(1, ['node/a', 'release'], ['node/c', 'shared'])
    expect(listLocks(desk.table, job(1))).toEqual([
      ['node/b', 'exclusive'],
      ['node/c', 'shared'],
    ])
  })

  test('one lock cannot be asked for in two modes', () => {
    const desk = new Desk()
    expect(() => desk.ask(1, ['node/a', 'shared'], ['node/a', 'exclusive'])).toThrow(LockError)
    expect(() => desk.ask(1, ['node/a', 'shared'], ['node/a', 'shared'])).not.toThrow()
  })

  test('a waiting owner may repeat its request, but not make another', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'])
    expect(ids(desk.wait(2, 0, ['node/a', 'shared']).blockers)).toEqual([1])
    expect(desk.wait(2, 0, ['node/a', 'shared'])).toMatchObject({ blockers: [job(1)], changed: false })
    expect(() => desk.wait(2, 0, ['node/b', 'shared'])).toThrow('cannot update locks while having pending requests')
    expect(() => desk.ask(2, ['node/a', 'shared'])).toThrow(LockError)
  })
})

describe('order', () => {
  test.each<[string, [string, 'shared' | 'exclusive'], [string, 'shared' | 'exclusive'], string]>([
    ['level', ['node/a', 'shared'], ['instance/i', 'shared'], 'requesting Instance "i" while holding Node "a"'],
    ['name', ['node/b', 'shared'], ['node/a', 'shared'], 'requesting Node "a" while holding Node "b"'],
    ['lockset', ['node/a', 'shared'], ['node/[lockset]', 'shared'], 'requesting NodeLockSet while holding Node "a"'],
    ['big lock', ['instance/a', 'shared'], [BGL, 'shared'], 'requesting BGL while holding Instance "a"'],
    ['cluster', [BGL, 'shared'], ['cluster/[lockset]', 'shared'], 'requesting ClusterLockSet while holding BGL'],
    [
      'config',
      ['cluster/config', 'shared'],
      ['network/n', 'shared'],
      'requesting Network "n" while holding ConfigLock',
    ],
    [
      'upgrade',
      ['node-res/a', 'shared'],
      ['nodegroup/g', 'shared'],
      'requesting NodeGroup "g" while holding NodeRes "a"',
    ],
  ])('a lower lock by %s is refused', (_, held, desired, text) => {
    const desk = new Desk()
    desk.ask(1, held)
    expect(() => desk.ask(1, desired)).toThrow(new LockError(`Order violation: ${text}`))
    expect(listLocks(desk.table, job(1))).toEqual([held])
  })

  test('a lower lock that is held, or whose lockset is held, may be asked for again', () => {
    const desk = new Desk()
    desk.ask(1, ['node/[lockset]', 'exclusive'], ['node-res/z', 'shared'])
    expect(desk.ask(1, ['node/a', 'exclusive']).blockers).toEqual([])
    expect(desk.ask(1, ['node/[lockset]', 'shared']).blockers).toEqual([])
    expect(() => desk.ask(1, ['node/b', 'exclusive'])).toThrow('Order violation: requesting Node "b"')
  })

  test('a shared lock may be upgraded only while nothing higher is held', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'shared'])
    expect(desk.ask(1, ['node/a', 'exclusive']).blockers).toEqual([])
    desk.ask(2, ['node/b', 'shared'])
    desk.ask(2, ['node/c', 'shared'])
    expect(() => desk.ask(2, ['node/b', 'exclusive'])).toThrow('requesting Node "b" while holding Node "c"')
  })

  test('an exclusive member is refused while its lockset is held shared', () => {
    const desk = new Desk()
    desk.ask(1, ['node/[lockset]', 'shared'])
    expect(() => desk.ask(1, ['node/a', 'exclusive'])).toThrow(
      'Order violation: requesting exclusively Node "a" while holding a shared lock on the group lock NodeLockSet it belongs to.',
    )
  })

  test('the highest lock is known again after it was released', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'shared'], ['node/z', 'shared'])
    desk.ask(1, ['node/z', 'release'])
    expect(desk.ask(1, ['node/m', 'shared']).blockers).toEqual([])
  })
})

describe('waiting', () => {
  test('requests are granted by priority, then in order of arrival', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'])
    desk.wait(2, 0, ['node/a', 'exclusive'])
    desk.wait(3, -10, ['node/a', 'exclusive'])
    desk.wait(4, 0, ['node/a', 'exclusive'])
    const order = []
    for (let last = 1; last !== 0;) {
      const granted = ids(desk.free(last).granted)
      expect(granted.length).toBeLessThanOrEqual(1)
      last = Number(granted[0] ?? 0)
      order.push(last)
    }
    expect(order).toEqual([3, 2, 4, 0])
  })

  test('a request that is made again with another priority changes its place, not its age', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'])
    for (const id of [2, 3, 4]) desk.wait(id, 0, ['node/a', 'exclusive'])
    expect(desk.wait(4, -5, ['node/a', 'exclusive'])).toMatchObject({ blockers: [job(1)], changed: true })
    expect(desk.wait(4, -5, ['node/a', 'exclusive']).changed).toBe(false)
    desk.wait(2, -5, ['node/a', 'exclusive'])
    expect(ids(desk.free(1).granted)).toEqual([2])
    expect(ids(desk.free(2).granted)).toEqual([4])
    expect(() => desk.wait(3, -5, ['node/b', 'exclusive'])).toThrow('while having pending requests')
  })

  test('one release can grant many', () => {
    const desk = new Desk()
    desk.ask(1, ['node/[lockset]', 'exclusive'])
    for (const id of [2, 3, 4]) desk.wait(id, 0, [`node/${id}`, 'exclusive'])
    expect(ids(desk.free(1).granted)).toEqual([2, 3, 4])
  })

  test('a granted request that releases something grants others in turn', () => {
    const desk = new Desk()
    desk.ask(1, ['node/b', 'exclusive'])
    desk.ask(2, ['node/a', 'exclusive'])
    desk.wait(2, 0, ['node/a', 'release'], ['node/b', 'exclusive'])
    desk.wait(3, 0, ['node/a', 'exclusive'])
    expect(ids(desk.free(1).granted)).toEqual([2, 3])
  })

  test('a downgrade lets sharers in', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'], ['node-res/a', 'exclusive'])
    desk.wait(2, 0, ['node/a', 'shared'])
    desk.wait(3, 0, ['node-res/a', 'shared'])
    expect(ids(desk.level('downgrade', 1, 'node').granted)).toEqual([2])
    expect(listLocks(desk.table, job(1))).toEqual([
      ['node/a', 'shared'],
      ['node-res/a', 'exclusive'],
    ])
  })

  test('freeing a level and intersecting release just that', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'], ['instance/i', 'exclusive'], ['node/a', 'exclusive'], ['node/b', 'exclusive'])
    desk.wait(2, 0, ['node/b', 'shared'])
    expect(ids(desk.intersect(1, 'node/a', BGL, 'instance/i').granted)).toEqual([2])
    desk.level('freeLevel', 1, 'instance')
    expect(listLocks(desk.table, job(1))).toEqual([
      [BGL, 'shared'],
      ['node/a', 'exclusive'],
    ])
  })

  test('a cancelled request is gone, and freeing an owner takes its request back too', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'])
    desk.wait(2, 0, ['node/a', 'shared'])
    desk.wait(3, 0, ['node/a', 'shared'])
    expect(desk.cancel(2)).toMatchObject({ withdrawn: true, changed: true })
    expect(desk.cancel(2)).toMatchObject({ withdrawn: false, changed: false })
    expect(desk.free(3).withdrawn).toBe(true)
    expect(desk.free(1).granted).toEqual([])
    expect(desk.table.locks.size + desk.table.owners.size + desk.table.waiting.size + desk.table.blockedOn.size).toBe(0)
  })
})

describe('starvation', () => {
  test('owners that hold nothing wait behind an earlier exclusive request for the cluster lock', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 0, [BGL, 'exclusive'])
    expect(ids(desk.wait(3, 0, [BGL, 'shared']).blockers)).toEqual([2])
    expect(ids(desk.ask(4, [BGL, 'shared']).blockers)).toEqual([2])
    expect(blocking(desk.table, job(3))).toEqual([
      { lock: BGL, holders: [{ client: job(2), mode: 'exclusive', since: 2 }] },
    ])
    expect(ids(desk.free(1).granted)).toEqual([2])
    expect(ids(desk.free(2).granted)).toEqual([3])
  })

  test('an owner that holds something goes on, so that the exclusive request can be reached', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 0, [BGL, 'exclusive'])
    expect(desk.ask(1, ['node/a', 'exclusive']).blockers).toEqual([])
  })

  test('a more urgent owner, and the configuration lock, do not wait', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 0, [BGL, 'exclusive'])
    expect(desk.wait(3, -10, [BGL, 'shared']).blockers).toEqual([])
    expect(desk.ask(4, ['cluster/config', 'shared']).blockers).toEqual([])
  })

  test('when the exclusive request is taken back, those behind it go on', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 0, [BGL, 'exclusive'])
    desk.wait(3, 0, [BGL, 'shared'])
    expect(ids(desk.cancel(2).granted)).toEqual([3])
  })

  test('a request that becomes more urgent than the exclusive one is granted at once', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 0, [BGL, 'exclusive'])
    desk.wait(3, 0, [BGL, 'shared'])
    expect(desk.wait(3, -20, [BGL, 'shared'])).toMatchObject({ blockers: [], granted: [job(3)], changed: true })
    expect(listLocks(desk.table, job(3))).toEqual([[BGL, 'shared']])
  })

  test('when the exclusive request becomes less urgent, those behind it go on', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 0, [BGL, 'exclusive'])
    desk.wait(3, 0, [BGL, 'shared'])
    expect(desk.wait(2, 10, [BGL, 'exclusive'])).toMatchObject({ granted: [job(3)], changed: true })
    expect(ids(desk.wait(4, 10, [BGL, 'shared']).blockers)).toEqual([2])
  })

  test('the exclusive request keeps its place in the order of arrival when its priority changes', () => {
    const desk = new Desk()
    desk.ask(1, [BGL, 'shared'])
    desk.wait(2, 10, [BGL, 'exclusive'])
    desk.wait(3, 0, [BGL, 'exclusive'])
    expect(desk.wait(4, 0, [BGL, 'shared']).blockers).toEqual([job(3)])
    expect(desk.wait(2, 0, [BGL, 'exclusive']).blockers).toEqual([job(1)])
    expect(desk.wait(5, 0, [BGL, 'shared']).blockers).toEqual([job(2)])
    expect(ids(desk.free(1).granted)).toEqual([2])
  })
})

describe('opportunistic union', () => {
  test('takes what is free and reports only what is new', () => {
    const desk = new Desk()
    desk.ask(1, ['node/b', 'exclusive'])
    desk.ask(2, ['node/a', 'shared'])
    const effects = desk.takeFree(2, 0, ['node/c', 'shared'], ['node/b', 'shared'], ['node/a', 'shared'])
    expect(effects).toMatchObject({ acquired: ['node/c'], changed: true })
  })

  test('guarded, takes nothing unless enough are free', () => {
    const desk = new Desk()
    desk.ask(1, ['node/b', 'exclusive'])
    const desired: [string, 'exclusive'][] = [
      ['node/a', 'exclusive'],
      ['node/b', 'exclusive'],
      ['node/c', 'exclusive'],
    ]
    expect(desk.takeFree(2, 3, ...desired)).toMatchObject({ acquired: [], changed: false })
    expect(listLocks(desk.table, job(2))).toEqual([])
    expect(desk.takeFree(2, 2, ...desired).acquired).toEqual(['node/a', 'node/c'])
  })

  test('skips locks that would violate the order', () => {
    const desk = new Desk()
    desk.ask(1, ['node/b', 'shared'])
    expect(desk.takeFree(1, 0, ['node/a', 'shared'], ['node/c', 'shared']).acquired).toEqual(['node/c'])
  })
})

describe('listing and locks.data', () => {
  const busy = () => {
    const desk = new Desk()
    desk.ask(226, [BGL, 'shared'], ['node/a', 'exclusive'])
    desk.ask(3, [BGL, 'shared'])
    desk.wait(3, 5, ['node/[lockset]', 'shared'])
    desk.wait(4, -5, ['node/a', 'exclusive'])
    return desk
  }

  test('a loaded request that nobody blocks is granted, and so are those that wait for what it releases', () => {
    const waiting = [
      [0, job(2), [['node/a', 'exclusive']]],
      [
        0,
        job(1),
        [
          ['node/a', 'release'],
          ['node/b', 'shared'],
        ],
      ],
    ]
    const table = decodeTable(JSON.stringify([[[job(1), [['node/a', 'shared']]]], waiting]), 1, 1)
    expect(listWaiting(table)).toEqual([])
    expect(listLocks(table, job(2))).toEqual([['node/a', 'exclusive']])
  })

  test('locks are listed in order with their owners, locksets of held members too', () => {
    const { table } = busy()
    expect(listAllLocks(table)).toEqual(['cluster/[lockset]', BGL, 'node/[lockset]', 'node/a'])
    expect(listAllLocksOwners(table)).toEqual([
      ['cluster/[lockset]', []],
      [
        BGL,
        [
          [job(226), 'shared'],
          [job(3), 'shared'],
        ],
      ],
      ['node/[lockset]', []],
      ['node/a', [[job(226), 'exclusive']]],
    ])
    expect(listWaiting(table)).toEqual([
      [-5, job(4), [['node/a', 'exclusive']]],
      [5, job(3), [['node/[lockset]', 'shared']]],
    ])
  })

  test('a waiter learns who blocks it, since when', () => {
    const { table } = busy()
    expect(blocking(table, job(3))).toEqual([
      { lock: 'node/[lockset]', holders: [{ client: job(226), mode: 'exclusive', since: 1 }] },
    ])
    expect(blocking(table, job(226))).toEqual([])
  })

  test('the text is Ganeti’s and reads back as the same table', () => {
    const { table } = busy()
    const text = encodeTable(table)
    expect(text).toBe(
      '[[[[226,"/livelocks/job_226",1226],[["cluster/BGL","shared"],["node/a","exclusive"]]],' +
        '[[3,"/livelocks/job_3",1003],[["cluster/BGL","shared"]]]],' +
        '[[5,[3,"/livelocks/job_3",1003],[["node/[lockset]","shared"]]],' +
        '[-5,[4,"/livelocks/job_4",1004],[["node/a","exclusive"]]]]]',
    )
    const again = decodeTable(text, 500, 9)
    expect(encodeTable(again)).toBe(text)
    expect([...again.owners.values()].map(({ epoch }) => epoch)).toEqual([null, null])
    expect(encodeTable(new Desk().table)).toBe('[[],[]]')
  })

  test.each([
    ['{'],
    ['[]'],
    ['[[[[1,"x"],[]]],[]]'],
    ['[[[[1,"x",1],[["node/a","release"]]]],[]]'],
    [
      '[[[[1,"x",1],[["nude/a","shared"]]]],[]]',
      '[0][0][1][0][0]: expected a text (the name of a lock), found "nude/a"',
    ],
    ['[[[[1,"x",1],[["node/a","exclusive"]]],[[2,"x",1],[["node/a","shared"]]]],[]]'],
    ['[[],[["0",[1,"x",1],[]]]]'],
  ])('%s is refused', (text, where = '') => {
    expect(() => decodeTable(text, 1, 1)).toThrow('locks.data')
    expect(() => decodeTable(text, 1, 1)).toThrow(where)
  })

  test('a request for all locks holds back nothing that came before it, also after it was loaded', () => {
    const desk = new Desk()
    desk.ask(1, ['node/a', 'exclusive'])
    desk.wait(2, 10, ['node/a', 'exclusive'])
    desk.ask(4, [BGL, 'shared'])
    desk.wait(3, -10, [BGL, 'exclusive'])
    const loaded = new Desk(decodeTable(encodeTable(desk.table), 1, 1))
    expect(ids(loaded.free(1).granted)).toEqual([2])
  })

  test('an epoch lasts from the first lock to the last', () => {
    const desk = new Desk()
    const epoch = () => desk.table.owners.get(JSON.stringify(job(1)))?.epoch
    desk.ask(1, [BGL, 'shared'])
    desk.ask(1, ['node/a', 'shared'])
    expect(epoch()).toBe(100)
    desk.free(1)
    desk.ask(1, [BGL, 'shared'])
    expect(epoch()).toBe(101)
  })
})
