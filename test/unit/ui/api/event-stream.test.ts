// How a page follows the stream of events, whatever the server and the line do.
import { followEvents, type News } from '../../../../ui/src/api/event-stream'
import { Problem } from '../../../../ui/src/api/problem'
import { shownEvent } from '../../../../src/daemons/rapi/v3/event-stream'
import type { Job } from '../../../../src/jobs/job'
import { jobOf } from '../../../../src/query/job-shape'
import { jobEvents } from '../../../../src/services/events/event-sources'
import { EventStreams } from '../../../support/event-streams'

let streams: EventStreams
let news: News[]
let leaving: AbortController

beforeEach(() => {
  jest.useFakeTimers()
  streams = new EventStreams()
  news = []
  leaving = new AbortController()
})
afterEach(() => {
  leaving.abort()
  jest.useRealTimers()
})

const after = (ms: number) => jest.advanceTimersByTimeAsync(ms)

async function follow(cursor?: string): Promise<void> {
  const { open } = streams
  void followEvents({ open, cursor, signal: leaving.signal, tell: (one) => news.push(one) })
  await after(0)
}

const lastNews = () => news.at(-1)
const reported = () => news.flatMap(({ events }) => events)

test('events are told with the connection, and one that comes in pieces is told once it is whole', async () => {
  await follow()
  streams.last.event('e-1', 'start', [])
  await after(0)
  streams.last.say('id: e-2\nevent: config\ndata: {"objects": ["insta')
  await after(0)
  expect(reported()).toEqual([])
  streams.last.say('nce/web1"]}\n\n')
  await after(0)
  expect(lastNews()).toEqual({
    ...{ connection: 'live', cursor: 'e-2', missed: false },
    events: [{ type: 'config', objects: ['instance/web1'] }],
  })
})

test('an event of a job tells which of its opcodes have ended', async () => {
  await follow('e-1')
  const op = (OP_ID: string, status: string) => ({ input: { OP_ID }, status, log: [] })
  const ops = [op('OP_BACKUP_REMOVE', 'success'), op('OP_TEST_DELAY', 'running')]
  const [event] = jobEvents(undefined, { id: 1, ops } as unknown as Job, undefined)
  if (event === undefined) throw new Error('a new job makes an event')
  streams.last.say(`id: e-2\nevent: job\ndata: ${JSON.stringify(shownEvent({ time: 1, ...event }))}\n\n`)
  await after(0)
  expect(reported()).toEqual([{ type: 'job', objects: ['job/1'], ended: ['OP_BACKUP_REMOVE'] }])
})

test('an event of a log tells the line as the job has it', async () => {
  await follow('e-1')
  const log = [[4, [1_767_225_600, 500_000], 'message', 'Creating']]
  const job = { id: 1, ops: [{ input: { OP_ID: 'OP_TEST_DELAY' }, status: 'running', log: [] }] }
  const later = { ...job, ops: job.ops.map((op) => ({ ...op, log })) }
  const [event] = jobEvents(job as unknown as Job, later as unknown as Job, undefined)
  if (event === undefined) throw new Error('a line makes an event')
  streams.last.say(`id: e-2\nevent: log\ndata: ${JSON.stringify(shownEvent({ time: 1, ...event }))}\n\n`)
  await after(0)
  const [line] = jobOf({ opids: ['OP_TEST_DELAY'], oplog: [log] }, ['log']).ops[0]?.log ?? []
  expect(reported()).toEqual([{ type: 'log', objects: ['job/1'], line: { job: 1, op: 0, ...line } }])
})

test('a stream that begins now may have missed what happened before it, and one that goes on has not', async () => {
  streams.refusal = new Problem(503, 'too many streams')
  await follow()
  expect(lastNews()).toMatchObject({ connection: 'lost', missed: false })
  streams.refusal = undefined
  await after(1000)
  streams.last.event('e-5', 'start', [])
  await after(0)
  expect(lastNews()).toMatchObject({ connection: 'live', cursor: 'e-5', missed: true })
  streams.last.breakOff()
  await after(0)
  expect(lastNews()).toMatchObject({ connection: 'lost', cursor: 'e-5' })
  await after(1000)
  expect(streams.last.cursor).toBe('e-5')
  streams.last.event('e-5', 'start', [])
  streams.last.event('e-6', 'config', ['node/node1'])
  await after(0)
  expect(lastNews()).toMatchObject({ connection: 'live', cursor: 'e-6' })
  expect(news.filter(({ missed }) => missed)).toHaveLength(1)
  expect(reported()).toEqual([{ type: 'config', objects: ['node/node1'] }])
})

test('a server that says that events are missing has them looked for', async () => {
  await follow('e-1')
  streams.last.event('f-9', 'gap', [])
  await after(0)
  expect(lastNews()).toMatchObject({ cursor: 'f-9', missed: true, events: [] })
})

test('a server that is silent is left after a while, and one that says only that it lives is not', async () => {
  await follow()
  streams.last.event('e-1', 'start', [])
  for (let at_s = 0; at_s < 120; at_s += 15) {
    await after(15_000)
    streams.last.say(': nothing new\n\n')
  }
  await after(0)
  expect([streams.opened.length, lastNews()?.connection]).toEqual([1, 'live'])
  await after(39_000)
  expect(lastNews()?.connection).toBe('live')
  await after(1000)
  expect([streams.opened[0]?.isOpen, lastNews()?.connection]).toEqual([false, 'lost'])
  await after(1000)
  expect(streams.opened).toHaveLength(2)
  // It does not answer at all.
  await after(40_000)
  expect([streams.opened[1]?.isOpen, lastNews()?.connection]).toEqual([false, 'lost'])
})

test('it is tried again, less and less often, and at once again after it has worked', async () => {
  streams.refusal = new Problem(0, 'unreachable')
  await follow()
  const tries = () => news.length
  await after(1000 + 2000 + 5000 + 10_000 + 10_000)
  expect(tries()).toBe(6)
  streams.refusal = undefined
  await after(10_000)
  streams.last.event('e-1', 'start', [])
  await after(0)
  streams.last.end()
  await after(1000)
  expect(streams.opened).toHaveLength(2)
})

test('who may not see events is told so, and may be allowed to later', async () => {
  streams.refusal = new Problem(403, 'not allowed')
  await follow()
  expect(lastNews()?.connection).toBe('denied')
  streams.refusal = undefined
  await after(30_000)
  streams.last.event('e-1', 'start', [])
  await after(0)
  expect(lastNews()?.connection).toBe('live')
})

test('nothing is tried without a session, nor by a page that has left', async () => {
  streams.refusal = new Problem(401, 'over')
  await follow()
  await after(60_000)
  expect(news.map(({ connection }) => connection)).toEqual(['lost'])
  streams.refusal = undefined
  await follow()
  leaving.abort()
  await after(60_000)
  expect([streams.opened.length, streams.open_count]).toEqual([1, 0])
})
