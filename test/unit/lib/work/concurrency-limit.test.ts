// Work begins at a pace, and not more of it than there is room for.
import { ConcurrencyLimit } from '../../../../src/lib/work/concurrency-limit'
import { SteppedClock, settled } from '../../../support/stepped-clock'

function start() {
  const clock = new SteppedClock()
  const pace = new ConcurrencyLimit({ size: 2, patience_s: 1 }, clock)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = (id: number): Promise<number> =>
    pace.run(() => {
      begun.push(id)
      return new Promise((resolve) => ends.push(() => resolve(id)))
    })
  return { clock, pace, begun, ends, work }
}

test('no more is begun than there is room for; what ends makes room for the next', async () => {
  const { begun, ends, work } = start()
  const all = [1, 2, 3, 4].map(work)
  expect(begun).toEqual([1, 2])
  ends[1]?.()
  await settled()
  expect(begun).toEqual([1, 2, 3])
  ends[0]?.()
  await settled()
  ends.forEach((end) => end())
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4])
})

test('work that takes long is not waited for, and makes room only once', async () => {
  const { clock, begun, ends, work } = start()
  for (const id of [1, 2, 3, 4, 5]) void work(id)
  await clock.pass(0.5)
  expect(begun).toEqual([1, 2])
  await clock.pass(0.6)
  expect(begun).toEqual([1, 2, 3, 4])
  ends[0]?.()
  await settled()
  expect(begun).toEqual([1, 2, 3, 4])
})

test('work that fails makes room, too', async () => {
  const { pace } = start()
  const fails = [1, 2, 3].map(() => pace.run(() => Promise.reject(new Error('no'))))
  expect((await Promise.allSettled(fails)).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
})
