// Two sides of a mirrored disk, as two nodes have them, with real files and sockets. What was acknowledged is on both sides, or noted.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { done, ended, fallocate, fileOf, Pair, type Side, SIZE, sooner } from '../../../support/mirror-sides'
import { eventually } from '../../../support/hypervisor'

/** Copies of a disk with so slow a rate are held up for good. */
const SLOW_KIB = 1
const sleep = jest.fn((delay_ms: number, signal?: AbortSignal) =>
  delay_ms < 60_000 ? sooner.sleep(delay_ms, signal) : new Promise<void>(() => undefined),
)
const run = jest.fn(fallocate)
let both: Pair

beforeEach(() => {
  run.mockReset().mockImplementation(fallocate)
  both = new Pair({ run, clock: { ...sooner, sleep } })
  return Promise.all(both.sides.map((side) => side.forget()))
})
afterEach(() => both.end())

const pair = (rate_kib?: number): Promise<[Side, Side]> => both.begin(rate_kib)

test('what is written is on both sides when it is acknowledged', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  expect(guest.size).toBe(SIZE)
  await guest.write(4096, 'hello')
  expect([a, b].map((side) => side.holds(4096, 'hello'))).toEqual([true, true])
  expect((await guest.read(4096, 5)).toString()).toBe('hello')
  await guest.flush()
})

test('what a guest discards is gone on both sides', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.write(0, 'x'.repeat(SIZE))
  await guest.discard(1 << 20, SIZE - (1 << 20))
  for (const { data } of [a, b])
    expect(fs.readFileSync(data).equals(Buffer.alloc(SIZE).fill('x', 0, 1 << 20))).toBe(true)
  expect(run).toHaveBeenCalledTimes(2)
})

test('what a guest discards while the other side is away is gone there as soon as it is back', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.write(0, 'x'.repeat(SIZE))
  await b.disk.disconnect()
  await a.is('WFConnection UpToDate/DUnknown')
  await guest.discard(0, 1 << 20)
  await b.connect()
  await b.is('Connected UpToDate/UpToDate')
  expect(b.holds(0, '\0'.repeat(1 << 20))).toBe(true)
  expect(b.holds(1 << 20, 'x')).toBe(true)
})

test('a discard that outlives its connection ends before the side gets anything new, or may write', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.write(0, 'x'.repeat(SIZE))
  let go: () => void = () => undefined
  const held = new Promise<void>((resolve) => (go = resolve))
  run.mockImplementation(async (argv) => {
    if (fileOf(argv) === b.data) await held
    return fallocate(argv)
  })
  const discarded = guest.discard(0, SIZE)
  await eventually(() => run.mock.calls.some(([argv]) => fileOf(argv) === b.data) || undefined)
  await b.disk.disconnect()
  await discarded
  await guest.write(0, 'new data')
  await b.connect()
  await a.is('WFReportParams UpToDate/DUnknown')
  const promoted = b.disk.promote(false).then(
    () => 'writes',
    (error: unknown) => String(error),
  )
  go()
  // The other node has newer data, and writes.
  await expect(promoted).resolves.not.toBe('writes')
  await b.is('Connected UpToDate/UpToDate')
  expect([a, b].map((side) => side.holds(0, 'new data'))).toEqual([true, true])
})

test('zeros that are to keep their room are written as other data is', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.writeZeros(4096, 2 << 20)
  for (const { data } of [a, b]) expect(fs.statSync(data).blocks * 512).toBeGreaterThanOrEqual(2 << 20)
  expect(run).not.toHaveBeenCalled()
})

test('a file system without holes gets zeros', async () => {
  run.mockImplementation(() => Promise.resolve(ended(1)))
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.write(0, 'x'.repeat(SIZE))
  await guest.discard(0, SIZE)
  for (const { data } of [a, b]) expect(fs.readFileSync(data).equals(Buffer.alloc(SIZE))).toBe(true)
})

test('a new side gets what is there', async () => {
  const [a, b] = both.sides
  await a.attach()
  await a.disk.promote(true)
  const guest = await a.open()
  await guest.write(SIZE - 5, 'there')
  await b.attach()
  for (const side of [a, b]) await side.connect()
  await b.is('Connected UpToDate/UpToDate')
  expect(b.holds(SIZE - 5, 'there')).toBe(true)
})

test('a side that was away gets only what it lacks', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await b.disk.disconnect()
  await a.is('WFConnection UpToDate/DUnknown')
  await guest.write(70_000, 'alone')
  // Nobody told the other side of this one, and nothing is noted: it stays as it is.
  fs.writeFileSync(b.data, 'mine', { flag: 'r+' })
  await b.connect()
  await b.is('Connected UpToDate/UpToDate')
  expect(b.holds(70_000, 'alone')).toBe(true)
  expect(b.holds(0, 'mine')).toBe(true)
})

test('what one side lacks is known after the other has died', async () => {
  const [a, b] = await pair()
  await b.disk.disconnect()
  const guest = await a.open()
  await guest.write(70_000, 'alone')
  guest.close()
  await a.crash()
  await a.attach()
  for (const side of [a, b]) await side.connect()
  await b.is('Connected UpToDate/UpToDate')
  expect(b.holds(70_000, 'alone')).toBe(true)
})

test('the side that was taken over from gets all blocks: nobody knows what was under way when it died', async () => {
  const [a, b] = await pair()
  await a.crash()
  // It was not acknowledged, and the other side does not have it.
  fs.writeFileSync(a.data, 'under way', { flag: 'r+' })
  await b.disk.promote(false)
  const guest = await b.open()
  await guest.write(8192, 'after')
  await a.attach()
  await a.connect()
  await a.is('Connected UpToDate/UpToDate')
  expect(fs.readFileSync(a.data).equals(fs.readFileSync(b.data))).toBe(true)
  expect(a.holds(8192, 'after')).toBe(true)
})

test('both sides wrote alone: they stay apart, and neither is changed', async () => {
  const [a, b] = await pair()
  await a.disk.disconnect()
  await (await a.open()).write(0, 'from a')
  await b.disk.disconnect()
  await b.disk.promote(false)
  await (await b.open()).write(0, 'from b')
  for (const side of [a, b]) await side.connect()
  for (const side of [a, b]) {
    await side.is('StandAlone UpToDate/DUnknown')
    expect(side.disk.status.why).toMatch(/split brain/)
  }
  expect([a.holds(0, 'from a'), b.holds(0, 'from b')]).toEqual([true, true])
})

test('a disk of another secret is not taken for the other side, which is still waited for', async () => {
  const [a, b] = both.sides
  for (const side of [a, b]) await side.attach()
  await a.connect()
  const ends = { local: path.join(both.folder, 'b.link'), remote: path.join(both.folder, 'a.link') }
  await b.disk.connect({ ...ends, secret: 'other', dual: false, rate_kib: 0 })
  await eventually(() => b.disk.status.why?.includes('another disk') || undefined)
  expect([a, b].map((side) => side.disk.status.peerDisk)).toEqual(['DUnknown', 'DUnknown'])
  // The leftover ends.
  await b.disk.disconnect()
  await b.connect()
  for (const side of [a, b]) await eventually(() => side.disk.status.connection === 'Connected' || undefined)
  expect([a, b].map((side) => side.disk.status.why)).toEqual([undefined, undefined])
})

test('two may write only while both allow it', async () => {
  const [a, b] = await pair()
  await expect(b.disk.promote(false)).rejects.toThrow('the other node has it open for writing')
  for (const side of [a, b]) await side.disk.disconnect()
  for (const side of [a, b]) await side.connect(true)
  await b.is('Connected UpToDate/UpToDate')
  await b.disk.promote(false)
  const [here, there] = [await a.open(), await b.open()]
  await here.write(0, 'from a')
  await there.write(4096, 'from b')
  expect((await there.read(0, 6)).toString()).toBe('from a')
  expect((await here.read(4096, 6)).toString()).toBe('from b')
})

test('a side without data goes on with the other one’s, and gets a new copy while it is written to', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.write(0, 'before')
  await a.disk.detach()
  await guest.write(4096, 'without')
  expect((await guest.read(0, 6)).toString()).toBe('before')
  expect(a.holds(4096, 'without')).toBe(false)
  fs.truncateSync(a.data, 0)
  fs.truncateSync(a.data, SIZE)
  await a.forget()
  await a.attach()
  await guest.write(1 << 20, 'meanwhile')
  await a.is('Connected UpToDate/UpToDate')
  await guest.write(2 << 20, 'then')
  for (const side of [a, b])
    expect(
      [0, 4096, 1 << 20, 2 << 20].map((at, n) => side.holds(at, ['before', 'without', 'meanwhile', 'then'][n] ?? '')),
    ).toEqual([true, true, true, true])
})

test('the side whose data goes is not written to any more, and gets all back', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await b.disk.detach()
  await guest.write(0, 'alone')
  await b.forget()
  await b.attach()
  await b.is('Connected UpToDate/UpToDate')
  expect(b.holds(0, 'alone')).toBe(true)
})

test('the last copy is not let go', async () => {
  const [a, b] = await pair()
  await b.disk.disconnect()
  await a.is('WFConnection UpToDate/DUnknown')
  await expect(a.disk.detach()).rejects.toThrow('does not have all data')
})

test('it grows on both sides, or on neither', async () => {
  const [a, b] = await pair()
  await expect(a.disk.resize(2 * SIZE)).rejects.toThrow('has to grow first')
  for (const { data } of [a, b]) fs.truncateSync(data, 2 * SIZE)
  await a.disk.resize(2 * SIZE)
  const guest = await a.open()
  expect(guest.size).toBe(2 * SIZE)
  await guest.write(2 * SIZE - 3, 'end')
  expect(b.holds(2 * SIZE - 3, 'end')).toBe(true)
  guest.close()
  await eventually(() => done(a.disk.demote()))
  await a.disk.down()
  await expect(a.attach(SIZE)).rejects.toThrow('would cut its end off')
})

test('what a program writes to the file is on the other side when it is given back', async () => {
  const [a, b] = await pair()
  fs.writeFileSync(await a.disk.lend(), 'installed', { flag: 'r+' })
  await expect((await a.open()).write(0, 'x')).rejects.toThrow('error 5')
  await a.disk.giveBack()
  expect(b.holds(0, 'installed')).toBe(true)
  await a.is('Connected UpToDate/UpToDate')
})

test('what is given back while copying is paused is on the other side after the pause', async () => {
  const [a, b] = await pair()
  await b.disk.pause(true)
  fs.writeFileSync(await a.disk.lend(), 'installed', { flag: 'r+' })
  await a.disk.giveBack()
  await a.is('PausedSyncS UpToDate/Inconsistent')
  expect(b.holds(0, 'installed')).toBe(false)
  await b.disk.pause(false)
  await a.is('Connected UpToDate/UpToDate')
  expect(b.holds(0, 'installed')).toBe(true)
})

test('who waits for the other side is let go when copying is paused', async () => {
  const [a, b] = await pair(SLOW_KIB)
  fs.writeFileSync(await a.disk.lend(), 'installed', { flag: 'r+' })
  const input = a.disk.giveBack()
  await eventually(() => sleep.mock.calls.some(([delay_ms]) => delay_ms >= 60_000) || undefined)
  await b.disk.pause(true)
  await input
  await a.is('PausedSyncS UpToDate/Inconsistent')
})

test('a program that reads the file leaves nothing to be copied, and nobody writes meanwhile', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await guest.write(0, 'old')
  guest.close()
  const file = await eventually(() => a.disk.lend('to read').catch(() => undefined))
  expect(fs.readFileSync(file, 'utf8').slice(0, 3)).toBe('old')
  await expect((await a.open()).write(0, 'new')).rejects.toThrow('error 5')
  await expect(a.disk.lend('to read')).rejects.toThrow('in use')
  expect(a.disk.status).toMatchObject({ connection: 'Connected', peerDisk: 'UpToDate' })
  await a.disk.giveBack()
  await a.is('Connected UpToDate/UpToDate')
  expect(b.holds(0, 'old')).toBe(true)
})

test('who dies while a program writes has not lost it to the other side', async () => {
  const [a, b] = await pair()
  fs.writeFileSync(await a.disk.lend(), 'installed', { flag: 'r+' })
  await a.crash()
  await a.attach()
  for (const side of [a, b]) await (side === a ? side.connect() : undefined)
  await b.is('Connected UpToDate/UpToDate')
  expect(b.holds(0, 'installed')).toBe(true)
})

test('a guest that has it open keeps it, and a side that lacks data is not written to', async () => {
  const [a, b] = await pair()
  const guest = await a.open()
  await expect(a.disk.demote()).rejects.toThrow('in use')
  guest.close()
  await eventually(() => done(a.disk.demote()))
  await b.disk.detach()
  await b.forget()
  await a.disk.disconnect()
  await b.attach()
  await expect(b.disk.promote(false)).rejects.toThrow('does not have all data')
})
