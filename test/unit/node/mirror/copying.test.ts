// A side gets its copy while its own guest writes, and while all kinds of things fail. Copying comes to an end, whatever the guest does.
import { open } from 'node:fs/promises'
import { BLOCK } from '../../../../src/node/mirror/blocks'
import { Marks } from '../../../../src/node/mirror/marks'
import { eventually } from '../../../support/hypervisor'
import { BROKEN, NO_FLUSH, NO_WRITE, Pair, type Side, SIZE, sooner } from '../../../support/mirror-sides'
import type { NbdClient } from '../../../support/nbd-client'
import { OlderDisk } from '../../../support/older-mirror'

/** Copying waits for good where the rate is so slow, after it has copied as much as it does at once. */
const SLOW_KIB = 1
const [COPIED, NOT_COPIED] = [0, 3 << 20]
const sleep = jest.fn((delay_ms: number, signal?: AbortSignal) =>
  delay_ms < 60_000 ? sooner.sleep(delay_ms, signal) : new Promise<void>(() => undefined),
)
let both: Pair
let a: Side
let b: Side
afterEach(() => both.end())

async function begin(kinds?: Pair['kinds']): Promise<void> {
  sleep.mockClear()
  both = new Pair({ clock: { ...sooner, sleep } }, kinds)
  ;({ a, b } = both)
  for (const side of both.sides) await side.forget()
}

/** The guest of a side writes while this side gets its copy anew. The first blocks are copied already. */
async function writeMeanwhile(before: () => void = () => undefined): Promise<NbdClient> {
  await both.begin(SLOW_KIB)
  const guest = await a.open()
  for (const offset of [COPIED, NOT_COPIED]) await guest.write(offset, 'before')
  await a.disk.detach()
  await a.forget()
  await a.attach()
  await eventually(() => sleep.mock.calls.some(([delay_ms]) => delay_ms >= 60_000) || undefined)
  before()
  for (const offset of [COPIED, NOT_COPIED]) await guest.write(offset, 'meanwhile')
  await guest.discard(4096, 512)
  return guest
}

/** The two meet again, and copying has no limit any more. */
async function copyAll(): Promise<void> {
  await b.disk.disconnect()
  await b.connect()
  await both.areWhole()
  expect(both.areAlike).toBe(true)
  for (const offset of [COPIED, NOT_COPIED]) expect(a.holds(offset, 'meanwhile')).toBe(true)
}

test('a node that writes while it gets its copy writes to blocks that it has, too, so that they are not copied again', async () => {
  await begin()
  await writeMeanwhile()
  expect([a.holds(COPIED, 'meanwhile'), a.holds(NOT_COPIED, 'meanwhile')]).toEqual([true, false])
  // What it has written may not be on its disk when the two are parted.
  a.scribble(COPIED, 'lost')
  await copyAll()
})

test.each(['a', 'b'])('if side %s has an earlier version, all writes come with the blocks', async (name) => {
  await begin({ [name]: OlderDisk })
  await writeMeanwhile()
  expect([a.holds(COPIED, 'before'), a.holds(NOT_COPIED, 'meanwhile')]).toEqual([true, false])
  await copyAll()
})

test.each([
  ['of a block that was copied', async () => void (await writeMeanwhile(() => (a.faults.data = NO_WRITE)))],
  [
    'that the other node copies to it',
    async () => {
      await both.begin()
      await a.disk.served.write(COPIED, Buffer.alloc(SIZE, 'x'))
      await a.disk.detach()
      a.faults.data = NO_WRITE
      await a.attach()
    },
  ],
])('if it cannot make a write %s, its guest goes on without the copy, and does not notice', async (_what, fail) => {
  await begin()
  await fail()
  do await a.disk.served.write(COPIED, Buffer.from('later'))
  while (a.disk.status.disk !== 'Diskless')
  for (let times = 0; times < 20; times++) await a.disk.served.write(NOT_COPIED, Buffer.from(`then ${times}`))
  await a.is('Connected Diskless/UpToDate')
  await b.is('Connected UpToDate/Diskless')
  a.faults.data = {}
  // Copying has no limit now.
  await b.disk.disconnect()
  await b.connect()
  await a.attach()
  await both.areWhole()
  expect(both.areAlike && a.holds(COPIED, 'later') && a.holds(NOT_COPIED, 'then 19')).toBe(true)
})

test('copying comes to an end while the guest never stops writing to all blocks', async () => {
  await begin()
  await both.begin()
  const guest = await a.open()
  await a.disk.detach()
  await a.forget()
  let isOver = false
  let writes = 0
  /** At any time, one write to each block is under way or has just ended. */
  const write = async () => {
    for (; !isOver; writes++) await a.disk.served.write((writes * BLOCK) % SIZE, Buffer.from(`write ${writes}`))
  }
  const writing = [write(), write(), write()]
  await a.attach()
  await both.areWhole()
  isOver = true
  await Promise.all(writing)
  await guest.flush()
  expect(writes).toBeGreaterThan(0)
  expect(both.areAlike).toBe(true)
})

test('a node whose own data does not get to its disk gives it up as soon as the other node has all, and its guest goes on', async () => {
  await begin()
  await both.begin()
  await b.disk.disconnect()
  await a.is('WFConnection UpToDate/DUnknown')
  await a.disk.served.write(COPIED, Buffer.from('alone'))
  a.faults.data = NO_FLUSH
  await b.connect()
  await a.is('Connected Diskless/UpToDate')
  await b.is('Connected UpToDate/Diskless')
  await a.disk.served.write(NOT_COPIED, Buffer.from('then'))
  await a.disk.served.flush()
  // As the kernel drops what it could not write.
  a.scribble(COPIED, 'older')
  a.faults.data = {}
  await a.attach()
  await both.areWhole()
  expect(both.areAlike && a.holds(COPIED, 'alone') && a.holds(NOT_COPIED, 'then')).toBe(true)
})

test('a program that cannot borrow the file does not keep the copying from going on', async () => {
  await begin()
  await both.begin()
  await b.disk.detach()
  await a.disk.pause(true)
  await b.attach()
  await a.is('PausedSyncS UpToDate/Inconsistent')
  a.faults.meta = BROKEN
  await expect(a.disk.lend()).rejects.toThrow('EIO')
  a.faults.meta = {}
  await a.disk.pause(false)
  await both.areWhole()
  expect(both.areAlike).toBe(true)
})

test('a meeting that failed does not keep later copying from beginning', async () => {
  await begin()
  await both.begin()
  await b.disk.detach()
  a.faults.meta = BROKEN
  // This side is not the one that connects, so it does not begin the next meeting.
  await expect(b.attach()).rejects.toThrow('EIO')
  a.faults.meta = {}
  await both.areWhole()
})

test('that a block which was written to is lacking is on the disk, also if it was not noted before', async () => {
  await begin()
  const handle = await open(a.meta, 'r+')
  try {
    const marks = await Marks.read(handle, SIZE)
    await marks.add(3 * BLOCK, 4 * BLOCK)
    expect(await marks.pass(3 * BLOCK, 4 * BLOCK)).toBe(false)
    marks.drop(3)
    expect(await marks.pass(3 * BLOCK, 6 * BLOCK)).toBe(true)
    expect([3, 4, 5].map((block) => marks.has(block))).toEqual([false, false, false])
    const later = await Marks.read(handle, SIZE)
    expect([2, 3, 4, 5, 6].map((block) => later.has(block))).toEqual([false, true, true, true, false])
  } finally {
    await handle.close()
  }
})
