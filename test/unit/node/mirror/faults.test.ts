// Files that do not do what they are asked, on either node. The guest is never told that something is written when it is not, and the
// copies never differ unless this is noted.
import { Pair, type Side, inParts } from '../../../support/mirror-sides'

let both: Pair
let a: Side
let b: Side

beforeEach(() => {
  both = new Pair()
  ;({ a, b } = both)
  return Promise.all(both.sides.map((side) => side.forget()))
})
afterEach(() => both.end())

test('a file that takes a part of a write at a time gets all of it', async () => {
  await both.begin()
  for (const { faults } of both.sides) faults.data = inParts(5000)
  const guest = await a.open()
  await guest.write(4096, 'x'.repeat(8192))
  for (const side of [a, b]) expect(side.text(4096, 8192)).toBe('x'.repeat(8192))
  expect((await guest.read(4096, 8192)).toString()).toBe('x'.repeat(8192))
})

test('notes and marks are written as a whole, too', async () => {
  for (const { faults } of both.sides) faults.meta = inParts(3)
  await both.begin()
  await b.disk.disconnect()
  await a.is('WFConnection UpToDate/DUnknown')
  const guest = await a.open()
  for (const block of [1, 9, 30]) await guest.write(block << 16, 'alone')
  guest.close()
  await a.crash()
  await a.begin()
  await b.connect()
  await both.areWhole()
  expect([1, 9, 30].map((block) => b.holds(block << 16, 'alone'))).toEqual([true, true, true])
})

test('a copy whose file ends too early is not read as if it had zeros there', async () => {
  await both.begin()
  const guest = await a.open()
  const nothing = () => Promise.resolve({ bytesRead: 0 })
  a.faults.data = { read: nothing }
  await expect(guest.read(0, 512)).rejects.toThrow('error 5')
})
