import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../src/lib/clock'
import { systemDisk } from '../../../src/lib/disk'
import { silentLog } from '../../../src/lib/log'
import { EVENTS_KEPT_MAX } from '../../../src/model/limits'
import { EventHistory } from '../../../src/services/event-history'

let directory: string
let file: string
const open = () => EventHistory.open({ file, disk: systemDisk, clock: systemClock, log: silentLog })
const event = (number: number) => ({ type: 'log' as const, objects: [], data: { number } })
const numbers = (history: EventHistory, after: string) => history.since(after).events.map(({ data }) => data['number'])

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'gantry-events-'))
  file = path.join(directory, 'events')
})
afterEach(() => rmSync(directory, { recursive: true }))

async function add(history: EventHistory, ...wanted: number[]): Promise<void> {
  const count = Number(history.last.split('-')[1]) + wanted.length
  for (const number of wanted) history.add(event(number))
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

test('a restart goes on counting, and says that its keeper was away', async () => {
  const first = await open()
  await add(first, 1, 2)
  const seen = first.last
  await first.close()
  const second = await open()
  await second.change(5)
  const { events, gap } = second.since(seen)
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
  expect(third.since(`${first.epoch}x-1`).gap).toMatch(/counted anew/)
  await third.close()
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
