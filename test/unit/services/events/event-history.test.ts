// Events are on the disk before they are told, and survive what happens to their file.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { type Disk, systemDisk } from '../../../../src/lib/disk'
import { silentLog } from '../../../../src/lib/log'
import { EVENTS_BYTES_MAX, EVENTS_KEPT_MAX } from '../../../../src/model/limits/events'
import { EventHistory } from '../../../../src/services/events/event-history'

let directory: string
let file: string
const open = (disk: Disk = systemDisk) => EventHistory.open({ file, disk, clock: systemClock, log: silentLog })
const event = (number: number) => ({ type: 'log' as const, objects: [], data: { number } })
const numbers = (history: EventHistory, after: string) => history.since(after).events.map(({ data }) => data['number'])

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gantry-events-'))
  file = path.join(directory, 'events')
})
afterEach(() => rmSync(directory, { recursive: true }))

async function add(history: EventHistory, ...desired: number[]): Promise<void> {
  const count = Number(history.last.split('-')[1]) + desired.length
  for (const number of desired) history.add(event(number))
  while (Number(history.last.split('-')[1]) < count) await history.change(1)
}

test('an event is told when it is in the file, and what follows an id is given in order', async () => {
  const history = await open()
  const start = history.last
  history.add(event(1))
  expect(history.last).toBe(start)
  await history.change(5)
  expect(readFileSync(file, 'utf8')).toContain('"number":1')
  await add(history, 2, 3)
  expect(numbers(history, start)).toEqual([1, 2, 3])
  expect(numbers(history, `${history.epoch}-2`)).toEqual([3])
  await history.close()
})

test('what has happened is given from the newest back, without what is not told yet and what another counted', async () => {
  const history = await open()
  const back = (before: string | null) => [...history.back(before)].map(({ data }) => data['number'])
  expect(back(null)).toEqual([])
  await add(history, 1, 2, 3)
  history.add(event(4))
  expect(back(null)).toEqual([3, 2, 1])
  expect(back(`${history.epoch}-3`)).toEqual([2, 1])
  expect(back(`${history.epoch}-1`)).toEqual([])
  for (const strange of ['other-3', 'nonsense']) expect(() => back(strange)).toThrow('new numbering')
  await history.close()
})

test('a restart goes on counting, and says that its keeper was away', async () => {
  const first = await open()
  await add(first, 1, 2)
  const observed = first.last
  await first.close()
  const second = await open()
  await second.change(5)
  const { events, gap } = second.since(observed)
  expect(gap).toBeNull()
  expect(events).toMatchObject([{ id: `${first.epoch}-3`, type: 'gap' }])
  await second.close()
})

test('a torn last line is dropped; an unreadable file begins a new epoch', async () => {
  const first = await open()
  await add(first, 1)
  await first.close()
  appendFileSync(file, '{"id":"torn')
  const second = await open()
  await second.change(5)
  expect(second.since(`${first.epoch}-0`).events).toMatchObject([{ data: { number: 1 } }, { type: 'gap' }])
  await second.close()
  await systemDisk.write(file, 'nonsense')
  const third = await open()
  expect(third.since(`${first.epoch}x-1`).gap).toMatch(/new numbering/)
  await third.close()
})

const HEADER = '{"epoch":"old"}\n'
const oldEvent = (seq: number) => `{"id":"old-${seq}","type":"log","time":1,"objects":[],"data":{"number":${seq}}}\n`

test.each([
  ['nothing at all', () => writeFileSync(file, '')],
  ['garbage', () => writeFileSync(file, Buffer.alloc(5000, 0xa7))],
  [
    'a line in the middle that is not an event',
    () => writeFileSync(file, `${HEADER}${oldEvent(1)}nonsense\n${oldEvent(3)}`),
  ],
  ['a hole in the numbers', () => writeFileSync(file, `${HEADER}${oldEvent(1)}${oldEvent(3)}`)],
  ['a gigabyte', () => (writeFileSync(file, HEADER), truncateSync(file, 1 << 30))],
  ['a directory', () => mkdirSync(path.join(file, 'below'), { recursive: true })],
])('%s in the place of the history does not stop its keeper, who begins anew and says so', async (_, spoil) => {
  spoil()
  const history = await open()
  await history.change(5)
  expect(history.epoch).not.toBe('old')
  expect(history.since('old-1').gap).toMatch(/new numbering/)
  expect(history.since(`${history.epoch}-0`).events).toMatchObject([
    { type: 'gap', data: { reason: 'the history of events could not be read, so a new one begins' } },
  ])
  await add(history, 1)
  await history.close()
  expect(readFileSync(file, 'utf8')).toContain('"number":1')
})

test('a file that cannot be set aside either is left, and the events are kept in memory', async () => {
  mkdirSync(path.join(file, 'below'), { recursive: true })
  const history = await open({ ...systemDisk, rename: () => Promise.reject(new Error('busy')) })
  await add(history, 1, 2)
  await history.close()
  expect(numbers(history, `${history.epoch}-1`)).toEqual([1, 2])
})

test('a file that could not be written is not counted on from, and is whole when it can be written again', async () => {
  let full = false
  const refuse = () => Promise.reject(new Error('no space left'))
  const disk: Disk = {
    ...systemDisk,
    write: (...args) => (full ? refuse() : systemDisk.write(...args)),
    async openAppender(...args) {
      const appender = await systemDisk.openAppender(...args)
      return { ...appender, append: (data) => (full ? refuse() : appender.append(data)) }
    },
  }
  const clock = { ...systemClock, monotonic_ms: () => now_ms }
  let now_ms = 0
  const history = await EventHistory.open({ file, disk, clock, log: silentLog })
  const start = history.last
  await add(history, 1)
  full = true
  await add(history, 2)
  expect(() => statSync(file)).toThrow('ENOENT')
  full = false
  await add(history, 3)
  expect(() => statSync(file)).toThrow('ENOENT')
  now_ms += 3600_000
  await add(history, 4)
  await history.close()
  const next = await open()
  expect(numbers(next, start).slice(0, 4)).toEqual([1, 2, 3, 4])
  await next.close()
})

test('an event that is being written is told to nobody, and nobody misses anything meanwhile', async () => {
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const reached = { count: 0 }
  const disk: Disk = {
    ...systemDisk,
    async openAppender(...args) {
      const appender = await systemDisk.openAppender(...args)
      const append = async (data: Buffer) => {
        if (reached.count++ === 1) await held
        await appender.append(data)
      }
      return { ...appender, append }
    },
  }
  const history = await open(disk)
  const start = history.last
  await add(history, 1, 2)
  history.add(event(3))
  history.add(event(4))
  while (reached.count < 2) await systemClock.sleep(5)
  expect(numbers(history, start)).toEqual([1, 2])
  expect(numbers(history, `${history.epoch}-1`)).toEqual([2])
  release()
  while (numbers(history, start).length < 4) await history.change(1)
  expect(numbers(history, start)).toEqual([1, 2, 3, 4])
  await history.close()
})

test('only so many bytes are kept, in memory and in the file', async () => {
  const history = await open()
  const start = history.last
  const text = 'x'.repeat(EVENTS_BYTES_MAX / 16)
  for (let round = 0; round < 5; round++) {
    const last = Number(history.last.split('-')[1])
    for (let number = 0; number < 12; number++) history.add({ type: 'log', objects: [], data: { number, text } })
    while (Number(history.last.split('-')[1]) < last + 12) await history.change(1)
    expect(statSync(file).size).toBeLessThan(3.1 * EVENTS_BYTES_MAX)
  }
  expect(history.since(start).gap).toBe('only the last 15 events are kept')
  expect(history.since(`${history.epoch}-45`).events).toHaveLength(15)
  await history.close()
})

test('only so many are kept, and who comes too late is told', async () => {
  const history = await open()
  const start = history.last
  await add(history, ...Array.from({ length: EVENTS_KEPT_MAX + 5 }, (_, index) => index))
  expect(history.since(start).gap).toMatch(/are kept/)
  expect(history.since(`${history.epoch}-5`).events).toHaveLength(EVENTS_KEPT_MAX)
  expect(history.since(`${history.epoch}-99999999`).gap).toMatch(/not known/)
  await history.close()
})
