// Work is done a few pieces at a time.
import { eachBounded } from '../../../../src/lib/work/bounded'

test('everything is done, never more than the limit at once', async () => {
  let running = 0
  let most = 0
  const done: number[] = []
  await eachBounded([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    done.push(item)
  })
  expect(done.sort()).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(most).toBe(3)
})

test('a failure reaches the caller', async () => {
  await expect(eachBounded([1, 2], 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no')
})
