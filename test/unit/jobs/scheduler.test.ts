// Which jobs start next: priorities, dependencies, filter rules.
import { applyingFilter, sortedFilters, warnOfUnreadable } from '../../../src/jobs/filters'
import { type Job, newJob, withPriority } from '../../../src/jobs/job'
import { Scheduler, type Selection } from '../../../src/jobs/scheduler'
import { openLog } from '../../../src/lib/log'
import type { FilterRule } from '../../../src/model/filter-rule'
import { filterUuid } from '../../../src/model/ids'

const job = (id: number, priority = 0, op: Record<string, unknown> = {}): Job =>
  newJob(id, [{ OP_ID: 'OP_TEST_DELAY', duration: 1, reason: [], ...op, priority }], [1, 1])
const ids = (jobs: readonly Job[]) => jobs.map(({ id }) => id)
const rejectedIds = ({ reject }: Selection) => ids(reject.map(({ job }) => job))
const rule = (
  uuid: string,
  action: FilterRule['action'],
  predicates: FilterRule['predicates'] = [],
  priority = 0,
): FilterRule => ({
  uuid: filterUuid(uuid),
  action,
  predicates,
  priority,
  watermark: 5,
  reason_trail: [],
})

function schedulerWith(...jobs: Job[]): Scheduler {
  const scheduler = new Scheduler()
  for (const one of jobs) scheduler.add(one, [])
  return scheduler
}

test('the most urgent start first, the oldest of those before the others, and no more than there is room', () => {
  const scheduler = schedulerWith(job(3), job(1), job(4, -10), job(2, 10))
  expect(ids(scheduler.next(2, [], []).start)).toEqual([4, 1])
  expect(ids(scheduler.next(9, [], []).start)).toEqual([3, 2])
  expect(scheduler.next(9, [], []).start).toEqual([])
})

test('a new priority moves a job before it starts', () => {
  const scheduler = schedulerWith(job(1), job(2), job(3))
  scheduler.update(withPriority(job(3), -5))
  scheduler.update(withPriority(job(1), 5))
  expect(ids(scheduler.next(3, [], []).start)).toEqual([3, 2, 1])
})

test('a job waits until every job that it depends on has ended', () => {
  const scheduler = schedulerWith(job(1))
  scheduler.add(job(5), [1, 2])
  expect(ids(scheduler.next(9, [], []).start)).toEqual([1])
  scheduler.ended(1)
  expect(ids(scheduler.next(9, [], []).start)).toEqual([])
  scheduler.ended(2)
  expect(ids(scheduler.next(9, [], []).start)).toEqual([5])
})

test('a removed job never starts', () => {
  const scheduler = schedulerWith(job(1), job(2))
  expect(scheduler.remove(1)).toBe(true)
  expect(scheduler.remove(1)).toBe(false)
  expect(ids(scheduler.next(9, [], []).start)).toEqual([2])
})

describe('filters', () => {
  test('rules are tried by priority, then watermark, then uuid', () => {
    const rules = [rule('b', 'PAUSE', [], 1), rule('c', 'REJECT'), rule('a', 'ACCEPT')]
    expect(sortedFilters(rules).map(({ uuid }) => uuid)).toEqual(['a', 'c', 'b'])
  })

  test('CONTINUE and rules that do not hold leave the decision to the next', () => {
    const rules = [
      rule('a', 'CONTINUE'),
      rule('b', 'PAUSE', [['jobid', ['>', 'id', 'watermark']]]),
      rule('c', 'REJECT'),
    ]
    expect(applyingFilter(job(6), rules)?.uuid).toBe('b')
    expect(applyingFilter(job(5), rules)?.uuid).toBe('c')
  })

  test.each([
    [['opcode', ['&', ['=', 'OP_ID', 'OP_TEST_DELAY'], ['>', 'duration', 0]]], true],
    [['opcode', ['!', ['==', 'OP_ID', 'OP_TEST_DELAY']]], false],
    [['opcode', ['!=', 'OP_ID', 'OP_TEST_DELAY']], false],
    [['opcode', ['==', 'nosuch', 1]], false],
    [['opcode', ['<', 'OP_ID', 5]], false],
    [['opcode', ['=~', 'OP_ID', 'DELAY$']], true],
    [['opcode', ['=~', 'OP_ID', '(']], false],
    [['opcode', ['=~', 'OP_ID', '(?i)\\Aop_test']], true],
    [['opcode', ['=~', 'OP_ID', 'O'.repeat(2000)]], false],
    [['opcode', ['>', 'OP_ID', 5]], true],
    [['opcode', ['==', 'nested.deep.value', 7]], true],
    [['opcode', ['==', 'nested.other', 7]], false],
    [['opcode', ['!', ['==', 'nosuch', 1]]], false],
    [['opcode', ['|', ['==', 'OP_ID', 'OP_TEST_DELAY'], ['==', 'nosuch', 1]]], false],
    [['opcode', ['|', ['==', 'OP_ID', 'OP_TEST_DELAY'], ['?', 'duration']]], true],
    [['opcode', ['|', ['?', 'duration'], ['==', 'OP_ID', 'OP_TEST_DELAY']]], false],
    [['opcode', ['?', 'on']], true],
    [['opcode', ['=[]', 'list', 'b']], true],
    [['opcode', ['=[]', 'list', 2]], false],
    [['opcode', ['==', 'priority', 0]], false],
    [['reason', ['==', 'source', 'gnt:user']], true],
    [['reason', ['=~', 'source', 'user']], false],
    [['reason', ['>=', 'timestamp', 1]], true],
    [['reason', ['<', 'source', 5]], true],
    [['reason', ['==', 'source', 'gantry:user']], true],
    [['reason', ['==', 'source', 'gantry:key']], false],
    [['reason', ['>', 'reason', 'z']], false],
    [['jobid', null], true],
    [['jobid', ['==', 'id', '6']], false],
    [['jobid', ['!', ['==', 'nosuch', 1]]], false],
    [['reason', ['|', ['==', 'source', 'x'], ['==', 'reason', 'y']]], false],
    [['jobid', ['==', 'id', 6]], true],
  ] as const)('predicate %j holds: %s', (predicate, expected) => {
    const more = { nested: { deep: { value: 7 } }, on: true, list: ['a', 'b'] }
    const marks = [
      ['gantry:user', 'anna', 1],
      ['gantry:key', 'zzz', 1],
    ]
    const one = job(6, 0, { reason: [['gnt:user', 'why', 1], ...marks], ...more })
    expect(applyingFilter(one, [rule('a', 'PAUSE', [predicate])]) !== undefined).toBe(expected)
  })

  test('a pattern that cannot be used is told with its rule, once', () => {
    const lines: unknown[] = []
    const log = openLog({ write: (line) => void lines.push(JSON.parse(line)) })
    const conditions = ['^(?=a)(a+)+$', '(', 'DELAY'].map((pattern) => ['=~', 'OP_ID', pattern])
    const rules = [rule('a', 'REJECT', [['opcode', ['|', ...conditions]]]), rule('b', 'PAUSE')]
    warnOfUnreadable(rules, log)
    expect(lines).toMatchObject([
      { level: 40, filter: 'a', pattern: '^(?=a)(a+)+$', reason: expect.stringContaining('could take for ever') },
      { level: 40, filter: 'a', pattern: '(', reason: expect.stringContaining('Invalid regular expression') },
    ])
    warnOfUnreadable([...rules], log)
    expect(lines).toHaveLength(2)
    expect(applyingFilter(job(1), rules)?.uuid).toBe('b')
  })

  test('REJECT hands a job out to be cancelled, PAUSE keeps it until the rules change', () => {
    const scheduler = schedulerWith(job(1), job(2), job(9))
    const rules = [rule('a', 'REJECT', [['jobid', ['==', 'id', 1]]]), rule('b', 'PAUSE', [['jobid', ['==', 'id', 2]]])]
    const selection = scheduler.next(9, [], rules)
    expect([rejectedIds(selection), ids(selection.start)]).toEqual([[1], [9]])
    expect(selection.pause.map(({ job: held, rule: by }) => [held.id, by.uuid])).toEqual([[2, 'b']])
    expect(scheduler.next(9, [], [])).toEqual({ start: [], reject: [], pause: [] })
    scheduler.filtersChanged()
    expect(ids(scheduler.next(9, [], []).start)).toEqual([2])
  })

  test('REJECT takes out jobs that could not start yet, too', () => {
    const scheduler = schedulerWith(job(1))
    scheduler.add(job(2), [1])
    expect(scheduler.next(0, [], []).reject).toEqual([])
    scheduler.filtersChanged()
    const selection = scheduler.next(0, [], [rule('a', 'REJECT')])
    expect([rejectedIds(selection), ids(selection.start), scheduler.size]).toEqual([[1, 2], [], 0])
  })

  test('a reason limits how many jobs that give it run at a time', () => {
    const limited = (id: number, ...texts: string[]) =>
      job(id, 0, { reason: texts.map((text) => ['gnt:user', text, 1]) })
    const jobs = [limited(1, 'rate-limit:2:x'), limited(2, 'rate-limit:2:x'), limited(3, 'rate-limit:2:x'), job(4)]
    const scheduler = schedulerWith(...jobs, limited(5, 'rate-limit:3:x'), limited(6, 'rate-limit:0:x'))
    const first = scheduler.next(9, [], []).start
    expect(ids(first)).toEqual([1, 2, 4, 5, 6])
    expect(scheduler.next(9, first, []).start).toEqual([])
    expect(ids(scheduler.next(9, first.slice(1), []).start)).toEqual([3])
  })

  test('RATE_LIMIT counts the running jobs to which the same rule applies', () => {
    const scheduler = schedulerWith(job(1), job(2), job(3), job(4))
    const rules = [rule('a', ['RATE_LIMIT', 2])]
    const first = scheduler.next(9, [], rules).start
    expect(ids(first)).toEqual([1, 2])
    expect(scheduler.next(9, first, rules).start).toEqual([])
    expect(ids(scheduler.next(9, first.slice(1), rules).start)).toEqual([3])
  })
})

test('the queue stays small, however often the priority of a job changes that cannot start yet', () => {
  const scheduler = schedulerWith(job(1), job(2), job(3))
  const length = () => Reflect.get(Reflect.get(Reflect.get(scheduler, 'ready') as object, 'queue') as object, 'length')
  for (let change = 0; change < 5000; change++) scheduler.update(withPriority(job(2), (change % 20) - 10))
  expect(length()).toBeLessThan(100)
  scheduler.remove(1)
  expect(ids(scheduler.next(9, [], []).start)).toEqual([3, 2])
})
