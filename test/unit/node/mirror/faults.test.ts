// Files that do not do what they are asked, on either node. The guest is never told that something is written when it is not, and the
// copies never differ unless this is noted.
import * as fs from 'node:fs'
import { eventually } from '../../../support/hypervisor'
import { BROKEN, fallocate, inParts, NO_FLUSH, NO_WRITE, Pair, type Side, sooner } from '../../../support/mirror-sides'

/** Copying waits for good where the rate is so slow. */
const SLOW_KIB = 1
const sleep = jest.fn((delay_ms: number, signal?: AbortSignal) =>
  delay_ms < 60_000 ? sooner.sleep(delay_ms, signal) : new Promise<void>(() => undefined),
)
const run = jest.fn(fallocate)
let both: Pair
let a: Side
let b: Side

beforeEach(() => {
  sleep.mockClear()
  both = new Pair({ run, clock: { ...sooner, sleep } })
  ;({ a, b } = both)
  return Promise.all(both.sides.map((side) => side.forget()))
})
afterEach(() => {
  for (const { faults } of both.sides) Object.assign(faults, { data: {}, meta: {} })
  return both.end()
})

/** Its file works again, and is attached. The two are alike then. */
async function mend(side: Side): Promise<void> {
  Object.assign(side.faults, { data: {}, meta: {} })
  await side.attach()
  await both.areWhole()
  expect(both.areAlike).toBe(true)
}

/** The connection breaks; nobody has said anything. */
async function part(): Promise<void> {
  await b.disk.disconnect()
  await a.is('WFConnection UpToDate/DUnknown')
}

test('a file that takes a part of a write at a time gets all of it', async () => {
  await both.begin()
  for (const { faults } of both.sides) faults.data = inParts(5000)
  const guest = await a.open()
  await guest.write(4096, 'x'.repeat(8192))
  for (const side of [a, b]) expect(side.text(4096, 8192)).toBe('x'.repeat(8192))
  expect((await guest.read(4096, 8192)).toString()).toBe('x'.repeat(8192))
})

test('notes and marks are written as a whole, too', async () => {
  for (const { faults } of both.sides) faults.meta = inParts(64)
  await both.begin()
  await part()
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
  a.faults.data = { read: () => Promise.resolve({ bytesRead: 0 }) }
  await expect(guest.read(0, 512)).rejects.toThrow('error 5')
})

describe('the other node fails', () => {
  test.each([
    ['to flush', NO_FLUSH, {}],
    ['to flush, and to note that', NO_FLUSH, BROKEN],
  ])('%s: what it may have lost is copied to it again', async (_what, data, meta) => {
    await both.begin()
    const guest = await a.open()
    await guest.write(0, 'new')
    Object.assign(b.faults, { data, meta })
    await guest.flush()
    await a.is('Connected UpToDate/Diskless')
    // As the kernel drops what it could not write.
    b.scribble(0, 'old')
    await mend(b)
    expect(b.holds(0, 'new')).toBe(true)
  })

  test('to write: the guest goes on, and what is missing is copied later', async () => {
    await both.begin()
    const guest = await a.open()
    b.faults.data = NO_WRITE
    await guest.write(0, 'new')
    await a.is('Connected UpToDate/Diskless')
    await guest.write(70_000, 'more')
    await mend(b)
    expect(b.holds(0, 'new') && b.holds(70_000, 'more')).toBe(true)
  })

  test('to flush what was copied to it: that is copied again', async () => {
    await both.begin()
    await part()
    await (await a.open()).write(0, 'new')
    b.faults.data = NO_FLUSH
    await b.connect()
    await a.is('Connected UpToDate/Diskless')
    b.scribble(0, 'old')
    await mend(b)
    expect(b.holds(0, 'new')).toBe(true)
  })
})

describe('the node that writes fails', () => {
  test.each([
    ['to write', NO_WRITE, {}],
    ['to write, and to note that', NO_WRITE, BROKEN],
  ])('%s: it goes on with the data of the other node', async (_what, data, meta) => {
    await both.begin()
    const guest = await a.open()
    await guest.write(0, 'old')
    Object.assign(a.faults, { data, meta })
    await guest.write(0, 'new')
    await a.is('Connected Diskless/UpToDate')
    expect((await guest.read(0, 3)).toString()).toBe('new')
    await guest.write(70_000, 'more')
    await mend(a)
    expect(a.holds(0, 'new') && a.holds(70_000, 'more')).toBe(true)
    expect((await guest.read(0, 3)).toString()).toBe('new')
  })

  test('to flush: it goes on with the data of the other node', async () => {
    await both.begin()
    const guest = await a.open()
    await guest.write(0, 'new')
    a.faults.data = NO_FLUSH
    await guest.flush()
    await a.is('Connected Diskless/UpToDate')
    a.scribble(0, 'old')
    await mend(a)
    expect(a.holds(0, 'new')).toBe(true)
  })

  test('and the other one, too: the guest is told, and the two are alike later', async () => {
    await both.begin()
    const guest = await a.open()
    await guest.write(0, 'old')
    a.faults.data = NO_WRITE
    b.faults.data = {
      write: (handle, bytes: Buffer) => handle.write(bytes, 0, 1, 0).then(() => Promise.reject(new Error('EIO'))),
    }
    await expect(guest.write(0, 'new')).rejects.toThrow('error 5')
    await a.is('Connected UpToDate/Diskless')
    a.faults.data = {}
    await mend(b)
    expect((await guest.read(0, 3)).toString()).toBe('old')
  })

  test('while it is alone: the guest is told, and no later flush succeeds', async () => {
    await both.begin()
    await part()
    const guest = await a.open()
    await guest.write(0, 'new')
    a.faults.data = NO_FLUSH
    await expect(guest.flush()).rejects.toThrow('error 5')
    // The kernel tells of it only once.
    a.faults.data = {}
    await expect(guest.flush()).rejects.toThrow('error 5')
  })

  test('to note what the other node lacks: the guest is told, also of the next write to the same block', async () => {
    await both.begin()
    await part()
    const guest = await a.open()
    a.faults.meta = BROKEN
    for (const text of ['one', 'two']) await expect(guest.write(0, text)).rejects.toThrow('error 5')
    a.faults.meta = {}
    await guest.write(0, 'new')
    guest.close()
    await a.crash()
    await a.begin()
    await b.connect()
    await both.areWhole()
    expect([a, b].map((side) => side.holds(0, 'new'))).toEqual([true, true])
  })
})

test('a guest without any data is told so when it flushes', async () => {
  await both.begin()
  const guest = await a.open()
  await a.disk.detach()
  await guest.flush()
  await b.disk.disconnect()
  await a.is('WFConnection Diskless/DUnknown')
  await expect(guest.flush()).rejects.toThrow('error 5')
})

describe('a node gives up writing', () => {
  /** The other node may lose what it has not flushed, as in a power failure. */
  async function write(): Promise<void> {
    await both.begin()
    const guest = await a.open()
    await guest.write(0, 'new')
    guest.close()
  }

  test('both have it on their disks before that is noted', async () => {
    await write()
    const done: string[] = []
    for (const side of both.sides)
      for (const what of ['data', 'meta'] as const)
        side.faults[what] = {
          async datasync(handle) {
            await handle.datasync()
            done.push(`${side.name} ${what}`)
          },
        }
    await eventually(() =>
      a.disk.demote().then(
        () => true,
        () => undefined,
      ),
    )
    expect(done.slice(0, 2).toSorted()).toEqual(['a data', 'b data'])
    expect(done.slice(2)).toEqual(['a meta'])
  })

  test('the other node is away: it gets what it may have lost, and nothing else', async () => {
    await write()
    await part()
    b.scribble(0, 'old')
    b.scribble(1 << 20, 'mine')
    await a.leave()
    await a.begin()
    await b.connect()
    await both.areWhole()
    expect([0, 1 << 20].map((at) => b.text(at, 3))).toEqual(['new', 'min'])
  })

  test('its own file cannot be flushed, and the other node is away: all is copied', async () => {
    await write()
    await part()
    a.faults.data = NO_FLUSH
    await a.leave()
    a.faults.data = {}
    b.scribble(1 << 20, 'mine')
    await a.begin()
    await b.connect()
    await both.areWhole()
    expect(both.areAlike).toBe(true)
  })

  test('what both have on their disks is not copied again when they meet', async () => {
    await write()
    await a.disk.disconnect()
    await b.is('WFConnection UpToDate/DUnknown')
    b.scribble(0, 'mine')
    await a.connect()
    await both.areWhole()
    expect(b.holds(0, 'mine')).toBe(true)
  })
})

test('what was not flushed when the other node was lost is copied to it, also if nothing is written meanwhile', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(70_000, 'flushed')
  await guest.flush()
  await guest.write(0, 'new')
  await part()
  b.scribble(0, 'old')
  b.scribble(70_000, 'mine')
  await b.connect()
  await both.areWhole()
  expect([0, 70_000].map((at) => b.text(at, 3))).toEqual(['new', 'min'])
})

test('a node that goes on after the other one has died first has all on its disk: the other one may have confirmed a flush alone', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'new')
  await part()
  await guest.flush()
  guest.close()
  b.faults.data = NO_FLUSH
  await expect(b.disk.promote(false)).rejects.toThrow('EIO')
  expect(b.disk.status.role).toBe('Secondary')
})

test('after a flush that failed, zeros that are read may not be on the disk: they are written again', async () => {
  await both.begin()
  await part()
  const guest = await a.open()
  a.faults.data = NO_FLUSH
  await expect(guest.flush()).rejects.toThrow('error 5')
  guest.close()
  await a.leave()
  a.faults.data = {}
  await a.begin()
  await a.disk.promote(false)
  run.mockClear()
  await (await a.open()).discard(0, 4096)
  expect(run).toHaveBeenCalledTimes(1)
})

test('copying that was interrupted begins again: what was copied was perhaps not on the disk', async () => {
  await both.begin()
  await part()
  const guest = await a.open()
  await guest.write(0, 'new')
  await guest.write(3 << 20, 'more')
  await a.disk.disconnect()
  await a.connect(false, SLOW_KIB)
  await b.connect()
  await eventually(() => sleep.mock.calls.some(([delay_ms]) => delay_ms >= 60_000) || undefined)
  expect(b.holds(0, 'new')).toBe(true)
  await a.disk.disconnect()
  await b.is('WFConnection Inconsistent/DUnknown')
  b.scribble(0, 'old')
  // This mark is in the same byte of the marks as that of the first block.
  await guest.write(1 << 17, 'then')
  await a.connect()
  await both.areWhole()
  expect(both.areAlike).toBe(true)
})

test('a write is not confirmed before the mark of its block is on the disk, also if another write has set it', async () => {
  await both.begin()
  await part()
  const { served } = a.disk
  await served.write(1 << 20, Buffer.from('begins the generation'))
  let go: () => void = () => undefined
  const held = new Promise<void>((resolve) => (go = resolve))
  const begun = jest.fn()
  a.faults.meta = {
    async datasync(handle) {
      begun()
      await held
      await handle.datasync()
    },
  }
  const confirmed: string[] = []
  const write = (offset: number, text: string) =>
    served.write(offset, Buffer.from(text)).then(() => void confirmed.push(text))
  const first = write(0, 'one')
  await eventually(() => begun.mock.calls.length > 0 || undefined)
  const second = write(8192, 'two')
  // Takes longer than a write that waits for nothing.
  for (let times = 0; times < 5; times++) await served.flush()
  expect(confirmed).toEqual([])
  go()
  await Promise.all([first, second])
})

test('notes that could not be written leave those before them whole', async () => {
  await both.begin()
  await part()
  const guest = await a.open()
  // A part of each gets to the disk.
  a.faults.meta = {
    write: (handle, bytes: Buffer, offset: number, _length: number, position: number) =>
      handle.write(bytes, offset, 40, position).then(() => Promise.reject(new Error('EIO'))),
  }
  for (const text of ['one', 'two', 'three']) await expect(guest.write(0, text)).rejects.toThrow('error 5')
  guest.close()
  a.faults.meta = {}
  await a.crash()
  await a.begin()
  await b.connect()
  await both.areWhole()
  expect(both.areAlike).toBe(true)
})

test('a discard changes the file that is open, also if another file has got its name', async () => {
  await both.begin()
  const guest = await a.open()
  await guest.write(0, 'x'.repeat(1 << 16))
  fs.renameSync(a.data, `${a.data}.old`)
  fs.writeFileSync(a.data, 'another volume')
  await guest.discard(0, 1 << 16)
  expect(a.holds(0, 'another volume')).toBe(true)
  expect((await guest.read(0, 1 << 16)).equals(Buffer.alloc(1 << 16))).toBe(true)
})
