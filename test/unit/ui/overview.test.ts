// What the overview of the console reads out of answers.
import {
  countOf,
  degradedNodes,
  isTold,
  outOfTheWay,
  problemsOf,
  toldEvents,
  toldOf,
  withoutReserve,
} from '../../../ui/src/pages/overview/summary-data'

const problem = (collector: string | null, code: number, message = 'm') => ({
  ...{ collector, category: null, code, message },
})

test('of what nodes report, the bad comes first, each thing once, and what mends itself is left out', () => {
  const items = [
    { node: 'a', problems: [problem('load', 1), problem(null, 2, 'silent')] },
    { node: 'c', problems: [problem(null, 2, 'silent')] },
    { node: 'b', problems: [problem('daemons', 4, 'luxid is down')] },
  ]
  expect(problemsOf(items)).toEqual([
    { nodes: ['b'], collector: 'daemons', message: 'luxid is down', bad: true },
    { nodes: ['a', 'c'], collector: null, message: 'silent', bad: false },
  ])
})

test('disks that mend themselves are degraded until they have', () => {
  const items = [
    { node: 'a', problems: [problem('drbd', 1)] },
    { node: 'b', problems: [problem('lv', 4)] },
    { node: 'c', problems: [] },
  ]
  expect(degradedNodes(items)).toEqual(['a'])
})

test('nodes that are out of the way are told by the role by which their list is filtered', () => {
  const nodes = ['O', 'D', 'O', 'R'].map((role) => ({ role }))
  expect(outOfTheWay(nodes)).toEqual({ O: 2, D: 1 })
})

test('values are counted, the most frequent first', () => {
  expect(countOf(['x', 'y', 'y'])).toEqual([
    { value: 'y', count: 2 },
    { value: 'x', count: 1 },
  ])
})

test('nodes without reserve are told by group', () => {
  const reported = { without_reserve: ['a', 'c', 'b'] } as Parameters<typeof withoutReserve>[0]
  const groups = new Map([
    ['a', 'one'],
    ['b', 'one'],
    ['c', 'two'],
  ])
  expect(withoutReserve(reported, groups)).toEqual(
    new Map([
      ['one', ['a', 'b']],
      ['two', ['c']],
    ]),
  )
})

test('an event tells what has happened to whom, and by which job', () => {
  const event = { id: 'e-7', type: 'instance', time: '2026-01-01T00:00:00Z', objects: ['instance/web1'] }
  expect(toldOf({ ...event, data: { change: 'never heard of', cause: { job: 3 } } })).toEqual({
    ...{ id: 'e-7', time: event.time, text: 'never heard of', kind: 'instance', name: 'web1', job: 3 },
  })
  expect(toldOf({ ...event, type: 'watcher', objects: ['cluster'], data: { change: 'ran', cause: null } })).toEqual({
    ...{ id: 'e-7', time: event.time, text: 'was looked after by the watcher', name: 'cluster' },
  })
})

test('disks that come and go with their instances are not told of', () => {
  const event = { id: 'e-1', type: 'config', time: '', data: {} }
  expect([['disk/u'], ['instance/web1'], []].map((objects) => isTold({ ...event, objects }))).toEqual([
    false,
    true,
    false,
  ])
})

type Past = Parameters<typeof toldOf>[0]

const past = (type: string, object: string, data: Record<string, unknown>, second = 0): Past => ({
  ...{ id: `${type} ${second}`, type, objects: [object], data },
  time: new Date(Date.UTC(2026, 0, 1, 0, 0, 60 - second)).toISOString(),
})
const byJob = (change: string, job: number) => ({ change, config: { serial_no: 1, jobs: [job] } })
const reported = (...items: Past[]) =>
  toldEvents(items).map(({ name, text, gone }) => [name, text, ...(gone ? ['gone'] : [])])

test('each change is told once, in the words that tell most', () => {
  expect(
    reported(
      past('instance', 'instance/web1', { change: 'started', cause: { job: 3 } }),
      past('config', 'instance/web1', byJob('changed', 3), 1),
      past('instance', 'instance/web1', { change: 'created', cause: { job: 3 } }, 2),
      past('config', 'cluster', { ...byJob('changed', 3), fields: ['mtime', 'serial_no'] }, 2),
      past('config', 'instance/web1', byJob('added', 3), 3),
      past('config', 'cluster', { ...byJob('changed', 2), fields: ['mtime', 'enabled_hypervisors'] }, 8),
    ),
  ).toEqual([
    ['web1', 'started'],
    ['web1', 'was created'],
    ['cluster', 'was changed: enabled_hypervisors'],
  ])
})

test('a node is told with what has become of it', () => {
  const role = { offline: false, drained: false, master_candidate: true }
  expect(
    reported(
      past('node', 'node/n4', { ...role, offline: true }),
      past('config', 'node/n4', byJob('changed', 7), 0),
      past('node', 'node/n4', role, 20),
      past('config', 'node/n4', byJob('added', 5), 20),
    ),
  ).toEqual([
    ['n4', 'is marked offline'],
    ['n4', 'was added'],
  ])
})

test('an object that was removed is no link, until another one has its name', () => {
  const removed = (job: number, second: number) => [
    past('instance', 'instance/a', { change: 'removed', cause: { job } }, second),
    past('config', 'instance/a', byJob('removed', job), second),
  ]
  expect(
    reported(...removed(4, 0), past('instance', 'instance/a', { change: 'started', cause: { job: 3 } }, 9)),
  ).toEqual([
    ['a', 'was removed', 'gone'],
    ['a', 'started', 'gone'],
  ])
  expect(reported(past('instance', 'instance/a', { change: 'created', cause: { job: 5 } }), ...removed(4, 9))).toEqual([
    ['a', 'was created'],
    ['a', 'was removed'],
  ])
})
