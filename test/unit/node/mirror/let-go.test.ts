// A node whose copy is let go, or is missing, writes to the copy of the other node. The old copy counts as older from then on, wherever
// and whenever it turns up again.
import { Pair, type Side } from '../../../support/mirror-sides'

let both: Pair
let a: Side
let b: Side

beforeEach(() => {
  both = new Pair()
  ;({ a, b } = both)
  return Promise.all(both.sides.map((side) => side.forget()))
})
afterEach(() => both.end())

const read = async (side: Side, length: number): Promise<string> =>
  (await (await side.open()).read(0, length)).toString()

/** The other node has it, and its guest reads it, once the two are alike again. */
async function expectNewer(guest: Side): Promise<void> {
  await both.areWhole()
  expect(await read(guest, 6)).toBe('newer!')
  expect(both.areAlike).toBe(true)
}

test('a copy that was let go and is attached again gets what was written meanwhile', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'before')
  await a.disk.detach()
  await guest.write(0, 'newer!')
  await a.attach()
  await expectNewer(a)
})

test('it gets that too if it is attached when its node does not write any more', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'before')
  await a.disk.detach()
  await guest.write(0, 'newer!')
  guest.close()
  await a.leave()
  await a.begin()
  await both.areWhole()
  await a.disk.promote(false)
  await expectNewer(a)
})

test('a copy that was let go is not written to without the other one', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'before')
  await a.disk.detach()
  await guest.write(0, 'newer!')
  guest.close()
  await a.leave()
  await a.attach()
  await expect(a.disk.promote(false)).rejects.toThrow('does not have all data')
})

test('the data of a node was missing when its guest began, and is there again', async () => {
  await both.begin()
  const before = await a.open()
  await before.write(0, 'before')
  before.close()
  await a.leave()
  await a.connect()
  await a.is('Connected Diskless/UpToDate')
  await a.disk.promote(false)
  await (await a.open()).write(0, 'newer!')
  await a.attach()
  await expectNewer(a)
})

test('the node that wrote without its data dies, and begins with it: only the blocks that were written are copied to it', async () => {
  await both.begin()
  const before = await a.open()
  await before.write(0, 'before')
  before.close()
  await a.leave()
  await a.connect()
  await a.is('Connected Diskless/UpToDate')
  await a.disk.promote(false)
  const guest = await a.open()
  await guest.write(70_000, 'newer!')
  await a.crash()
  a.scribble(0, 'mine')
  await a.begin()
  await both.areWhole()
  expect(a.holds(70_000, 'newer!')).toBe(true)
  expect(a.holds(0, 'mine')).toBe(true)
})

test('the other node dies after it was written to for a node without a copy: it still knows which blocks', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'before')
  await a.disk.detach()
  await guest.write(0, 'newer!')
  guest.close()
  await a.leave()
  await b.crash()
  await b.attach()
  await b.connect()
  await a.begin()
  await both.areWhole()
  await b.disk.promote(false)
  await expectNewer(b)
})

test('a copy that comes back to a guest is not read before it has all data, also while the other node is away', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'before')
  await a.disk.detach()
  await guest.write(0, 'newer!')
  await b.disk.disconnect()
  await a.is('WFConnection Diskless/DUnknown')
  await a.attach()
  await expect(guest.read(0, 6)).rejects.toThrow('error 5')
  await expect(guest.write(0, 'older!')).rejects.toThrow('error 5')
  await b.connect()
  await expectNewer(a)
})

test('a node lets its copy go only if the one that writes has all data', async () => {
  await both.begin()
  await (await a.open()).write(0, 'before')
  await a.disk.detach()
  await expect(b.disk.detach()).rejects.toThrow('does not have all data')
})

test('a copy that is let go while the other node is away stays as it is', async () => {
  await both.begin()
  await (await a.open()).write(0, 'before')
  await a.disk.disconnect()
  await b.is('WFConnection UpToDate/DUnknown')
  await b.disk.detach()
  await b.attach()
  await b.disk.promote(false)
  expect(await read(b, 6)).toBe('before')
})

test('what is left of a request of a guest that has gone is not done after its node has given up writing', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'before')
  const parts = a.disk.served
  guest.close()
  await a.leave()
  await expect(parts.write(0, Buffer.from('older!'))).rejects.toThrow('may not write')
})
