// Long tables are worked on in slices.
import { Writable } from 'node:stream'
import { writeSlice } from '../../../../src/lib/work/slices'

test('others are served between two slices, also when the reader takes each at once', async () => {
  const reader = new Writable({
    highWaterMark: 1,
    write: (_chunk, _encoding, done) => process.nextTick(done),
  })
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  for (let slice = 0; slice < 5; slice++) await writeSlice(reader, 'text')
  clearImmediate(next)
  expect(turns).toBeGreaterThanOrEqual(4)
})
