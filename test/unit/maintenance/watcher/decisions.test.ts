// The rules of Ganeti's watcher as a table: a situation, what is remembered, what is done, and what is remembered then.
import {
  afterTries,
  decideDisks,
  decideInstances,
  decideVerified,
  type GroupState,
  verifiesDisks,
  type WatchedInstance,
  type WatchedNode,
} from '../../../../src/maintenance/watcher/decisions'
import { type Memory, NOTHING_REMEMBERED, parseMemory } from '../../../../src/maintenance/watcher/memory'
import { INSTANCE_STATUSES } from '../../../../src/model/constants/words'

const NOW = 1_000_000
const instance = (fields: Partial<WatchedInstance> = {}): WatchedInstance => ({
  ...{ name: 'a', status: 'running', adminState: 'up', disksActive: true, secondaries: [], template: 'drbd' },
  ...fields,
})
const node = (name: string, fields: Partial<WatchedNode> = {}): WatchedNode => ({
  ...{ name, bootId: 'boot-1', offline: false },
  ...fields,
})
const group = (
  instances: readonly WatchedInstance[],
  nodes: readonly WatchedNode[] = [],
  locked: readonly string[] = [],
): GroupState => ({
  instances: new Map(instances.map((one) => [one.name, one])),
  nodes: new Map(nodes.map((one) => [one.name, one])),
  locked: new Set(locked),
})
const tried = (count: number, when = NOW - 60): Memory => ({
  instance: { a: { restart_count: count, restart_when: when } },
  node: {},
})

describe('what is done about an instance', () => {
  const rows: [what: string, fields: Partial<WatchedInstance>, memory: Memory, done: object, remembered: object][] = [
    ['one that runs is left alone', {}, NOTHING_REMEMBERED, {}, {}],
    [
      'one that is down is started',
      { status: 'ERROR_down' },
      NOTHING_REMEMBERED,
      { restart: [{ name: 'a', attempt: 1 }] },
      { a: { restart_count: 1, restart_when: NOW } },
    ],
    [
      'and again, as long as there are tries left',
      { status: 'ERROR_down' },
      tried(4),
      { restart: [{ name: 'a', attempt: 5 }] },
      { a: { restart_count: 5, restart_when: NOW } },
    ],
    [
      'after five tries it is given up, which is said once',
      { status: 'ERROR_down' },
      tried(5),
      { gaveUp: ['a'] },
      { a: { restart_count: 6, restart_when: NOW } },
    ],
    [
      'and then it is left',
      { status: 'ERROR_down' },
      tried(6),
      { left: [expect.objectContaining({ name: 'a' })] },
      { a: { restart_count: 6, restart_when: NOW - 60 } },
    ],
    [
      'after eight hours tries begin anew',
      { status: 'ERROR_down' },
      tried(6, NOW - 8 * 3600 - 1),
      { restart: [{ name: 'a', attempt: 1 }] },
      { a: { restart_count: 1, restart_when: NOW } },
    ],
    ['tries are forgotten when it runs', {}, tried(3), {}, {}],
    ['or when people have stopped it', { status: 'ADMIN_down', adminState: 'down' }, tried(3), {}, {}],
    ['or when its node is down, since nobody knows then', { status: 'ERROR_nodedown' }, tried(3), {}, {}],
    [
      'one that its user has shut down is cleaned up',
      { status: 'USER_down' },
      NOTHING_REMEMBERED,
      { cleanUp: ['a'] },
      { a: { cleanup_count: 1, cleanup_when: NOW } },
    ],
    [
      'but not when the cluster wants it down already',
      { status: 'USER_down', adminState: 'down' },
      NOTHING_REMEMBERED,
      {},
      {},
    ],
    [
      'nor for ever',
      { status: 'USER_down' },
      { instance: { a: { cleanup_count: 6, cleanup_when: NOW - 60 } }, node: {} },
      { left: [expect.objectContaining({ name: 'a' })] },
      { a: { cleanup_count: 6, cleanup_when: NOW - 60 } },
    ],
  ]
  test.each(rows)('%s', (_, fields, memory, done, remembered) => {
    const { memory: after, ...decided } = decideInstances(group([instance(fields)]), memory, NOW)
    expect(decided).toEqual({ restart: [], cleanUp: [], gaveUp: [], left: [], ...done })
    expect(after.instance).toEqual(remembered)
  })

  const quiet = INSTANCE_STATUSES.filter((status) => !['ERROR_down', 'USER_down'].includes(status))
  test.each(quiet)('nothing about one in state %s', (status) => {
    const decided = decideInstances(group([instance({ status })]), NOTHING_REMEMBERED, NOW)
    expect(decided).toEqual({ restart: [], cleanUp: [], gaveUp: [], left: [], memory: NOTHING_REMEMBERED })
  })

  test('one that its user has shut down is left to the job that works on it', () => {
    const { cleanUp, left } = decideInstances(group([instance({ status: 'USER_down' })], [], ['a']), tried(0), NOW)
    expect({ cleanUp, left }).toEqual({ cleanUp: [], left: [expect.objectContaining({ name: 'a' })] })
  })

  test('runs that come often forget tries later, since an instance that crashes again and again runs in between', () => {
    const after = (fields: Partial<WatchedInstance>, when: number) =>
      decideInstances(group([instance(fields)]), tried(3, when), NOW, { settle_s: 240 }).memory.instance
    expect(after({}, NOW - 239)).toEqual(tried(3, NOW - 239).instance)
    expect(after({}, NOW - 240)).toEqual({})
    expect(after({ status: 'ADMIN_down', adminState: 'down' }, NOW)).toEqual({})
  })

  test('an instance that is gone is forgotten, unless only others are looked at', () => {
    expect(decideInstances(group([]), tried(3), NOW).memory.instance).toEqual({})
    expect(decideInstances(group([]), tried(3), NOW, { all: false }).memory.instance).toEqual(tried(3).instance)
  })

  test('after a clean-up that worked nothing is remembered of the instance', () => {
    const { memory } = decideInstances(group([instance({ status: 'USER_down' })]), tried(2), NOW)
    const none = { cleanedUp: new Set<string>(), refused: new Set<string>() }
    expect(afterTries(memory, tried(2), { ...none, cleanedUp: new Set(['a']) }).instance).toEqual({})
    expect(afterTries(memory, tried(2), none).instance['a']).toMatchObject({ cleanup_count: 1 })
  })

  test('a try that the queue did not take is none', () => {
    const former = tried(2)
    const { memory } = decideInstances(group([instance({ status: 'ERROR_down' })]), former, NOW)
    const outcomes = { cleanedUp: new Set<string>(), refused: new Set(['a']) }
    expect(afterTries(memory, former, outcomes)).toEqual(former)
  })
})

describe('disks after the boot of a node', () => {
  const on = (fields: Partial<WatchedInstance> = {}, of: Partial<WatchedNode> = {}) =>
    group([instance({ secondaries: ['n2'], ...fields })], [node('n1'), node('n2', of)])
  const known: Memory = { instance: {}, node: { n1: { bootid: 'boot-1' }, n2: { bootid: 'boot-0' } } }

  test('those of its secondary instances are activated, and its boot is remembered', () => {
    const { activate, memory } = decideDisks(on(), known, new Set())
    expect(activate).toEqual(['a'])
    expect(memory.node['n2']).toEqual({ bootid: 'boot-1' })
    expect(decideDisks(on(), memory, new Set()).activate).toEqual([])
  })

  test('but not of instances that were just started, nor disks that are to be inactive', () => {
    expect(decideDisks(on(), known, new Set(['a'])).activate).toEqual([])
    expect(decideDisks(on({ disksActive: false }), known, new Set()).activate).toEqual([])
  })

  test('a node that does not answer has not booted', () => {
    const { activate, memory } = decideDisks(on({}, { bootId: null }), known, new Set())
    expect({ activate, boot: memory.node['n2'] }).toEqual({ activate: [], boot: { bootid: 'boot-0' } })
  })
})

describe('disks that a verification has found inactive', () => {
  const state = (fields: Partial<WatchedInstance>, of: Partial<WatchedNode> = {}) =>
    group([instance({ secondaries: ['n2'], ...fields })], [node('n1'), node('n2', of)])

  test('are activated', () => expect(decideVerified(state({}), ['a', 'gone'])).toEqual(['a']))

  test('but not where the primary node is away or a secondary node is offline', () => {
    expect(decideVerified(state({ status: 'ERROR_nodedown' }), ['a'])).toEqual([])
    expect(decideVerified(state({ status: 'ERROR_nodeoffline' }), ['a'])).toEqual([])
    expect(decideVerified(state({}, { offline: true }), ['a'])).toEqual([])
  })

  test('are not looked for where external storage cannot tell', () => {
    expect(verifiesDisks(group([instance({ template: 'ext' })]))).toBe(false)
    expect(verifiesDisks(group([]))).toBe(false)
    expect(verifiesDisks(group([instance({ template: 'ext' }), instance({ name: 'b' })]))).toBe(true)
  })
})

test('a file that the watcher did not write counts as no memory', () => {
  for (const text of ['', '{', '[]', '"x"', 'null']) expect(parseMemory(text)).toEqual(NOTHING_REMEMBERED)
  expect(parseMemory('{"instance":{"a":{"restart_count":"many","restart_when":5},"b":3},"node":{"n":{}}}')).toEqual({
    instance: { a: { restart_when: 5 } },
    node: { n: {} },
  })
})

test('ten thousand instances are decided on in no time that anybody notices', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => instance({ name: `i${at}`, status: 'ERROR_down' }))
  const { restart, memory } = decideInstances(group(many), NOTHING_REMEMBERED, NOW)
  expect(restart).toHaveLength(10_000)
  expect(decideInstances(group(many), memory, NOW + 300).restart[0]).toEqual({ name: 'i0', attempt: 2 })
})
