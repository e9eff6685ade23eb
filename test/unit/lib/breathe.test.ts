import { breathe } from '../../../src/lib/clock'

test('however much long work there is, one slice of it is done in each turn of the event loop', async () => {
  let slices = 0
  let working = 5
  const work = async () => {
    for (let n = 0; n < 10; n++) {
      await breathe()
      slices++
    }
    working--
  }
  const all = Promise.all([work(), work(), work(), work(), work()])
  const each: number[] = []
  while (working > 0) {
    const before = slices
    await new Promise((resolve) => setImmediate(resolve))
    each.push(slices - before)
  }
  await all
  expect(slices).toBe(50)
  expect(Math.max(...each)).toBe(1)
})
