// The instances that the search of large clusters looks at. Where it ends is in balance.test.ts.
import { LazySearch } from '../../../../src/allocation/balance/lazy-search'
import type { Move } from '../../../../src/allocation/balance/moves'

test('one of the instances that are alike is looked at, for the first step and for those that follow', () => {
  const probes: number[] = []
  const search = new LazySearch<Move>([0, 1, 2, 3, 4, 5], {
    bestOf(instance) {
      probes.push(instance)
      return { instance, kind: 'failover', primary: 0, secondary: 1, score: 10 - (instance % 3) / 100 }
    },
    isOn: (instance) => instance === 5,
    likeOf: (instance) => instance % 3,
  })
  const step = () => {
    probes.length = 0
    const move = search.best(20, () => true)
    search.moved([0, 1])
    return [move?.instance, [...probes]]
  }
  expect(step()).toEqual([2, [0, 1, 2]])
  // Instance 5 is on a node that has changed, so it is looked at first and stands for 2.
  expect(step()).toEqual([5, [5, 1, 0]])
})
