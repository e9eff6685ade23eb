// No user takes all streams of events.
import type { ServerResponse } from 'node:http'
import { HttpError } from '../../../../src/http/errors'
import { eventStream } from '../../../../src/daemons/rapi/v3/event-stream'
import { silentLog } from '../../../../src/lib/log'
import { EVENT_STREAMS_PER_USER_MAX } from '../../../../src/model/limits/events'
import type { EventPage } from '../../../../src/rpc/luxi/gantry'
import type { GantryMaster } from '../../../../src/rpc/luxi/gantry-calls'
import { settled, SteppedClock } from '../../../support/stepped-clock'

test('a user is told events over so many streams only, and others over theirs', async () => {
  const { signal } = new AbortController()
  const page: EventPage = { events: [], last: 'e-1', gap: null }
  let fail: (error: Error) => void = () => undefined
  const over = new Promise<EventPage>((_, reject) => (fail = reject))
  // The first answer begins the stream; then nothing happens.
  const events = async (_: unknown, { timeout_s }: { timeout_s: number }) => (timeout_s === 0 ? page : over)
  const gantry = { events } as unknown as GantryMaster
  const opened: string[] = []
  const open = (user: string) => {
    const identity = { user, token: null, permissions: ['*'] }
    const request = { after: null, types: [], objects: [] }
    const options = {
      identity,
      again: async () => identity,
      gantry,
      clock: new SteppedClock(),
      log: silentLog,
      request,
    }
    const response = { writeHead: () => opened.push(user), write: () => true, end: () => undefined }
    return eventStream(options)(response as unknown as ServerResponse, signal)
  }
  const streams = Array.from({ length: EVENT_STREAMS_PER_USER_MAX }, () => open('anna'))
  const refused: unknown = await open('anna').catch((error: unknown) => error)
  streams.push(open('bert'))
  await settled()
  expect(opened).toHaveLength(EVENT_STREAMS_PER_USER_MAX + 1)
  expect(refused).toEqual(
    new HttpError(429, 'The user anna has 25 streams of events open already; try again in 5 s', 5),
  )
  fail(new HttpError(503))
  await Promise.all(streams)
  await open('anna')
})
