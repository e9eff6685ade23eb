// What the overview of the console reads out of answers.
import {
  countOf,
  degradedNodes,
  isTold,
  outOfTheWay,
  problemsOf,
  toldOf,
  withoutReserve,
} from '../../../ui/src/pages/overview/told'

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
  const told = { without_reserve: ['a', 'c', 'b'] } as Parameters<typeof withoutReserve>[0]
  const groups = new Map([
    ['a', 'one'],
    ['b', 'one'],
    ['c', 'two'],
  ])
  expect(withoutReserve(told, groups)).toEqual(
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
  expect(toldOf({ ...event, type: 'watcher', objects: ['cluster'], data: { cause: null } })).toEqual({
    ...{ id: 'e-7', time: event.time, text: 'Watcher', name: 'cluster' },
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
