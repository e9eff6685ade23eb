// A stream of server-sent events. Events are fetched when the reader has room, so a slow reader costs nothing. A reader
// that makes no room for too long is told so and disconnected.
import type { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { type Clock, within } from '../../../lib/clock'
import type { Log } from '../../../lib/log'
import { Quota } from '../../../lib/net/quota'
import { timeText } from '../../../lib/text/rfc3339'
import {
  EVENT_HEARTBEAT_S,
  EVENT_STALL_S,
  EVENT_STREAMS_MAX,
  EVENT_STREAMS_PER_USER_MAX,
} from '../../../model/limits/events'
import { RETRY_AFTER_S } from '../../../model/limits/http'
import type { ClusterEvent, EventRequest, Identity } from '../../../rpc/luxi/gantry'
import type { GantryMaster } from '../../../rpc/luxi/gantry-calls'
import { HttpError, tooMany } from '../../../http/errors'
import { problemOf } from './problem'

export interface EventStreamOptions {
  readonly identity: Identity
  /** Resolves to the identity according to the current users file and tokens. */
  readonly again: () => Promise<Identity>
  readonly gantry: GantryMaster
  readonly clock: Clock
  readonly log: Log
  readonly request: Omit<EventRequest, 'timeout_s'>
}

const streams = new Quota({ all: EVENT_STREAMS_MAX, each: EVENT_STREAMS_PER_USER_MAX })

export function eventStream(options: EventStreamOptions) {
  return async (response: ServerResponse, signal: AbortSignal): Promise<void> => {
    const { user } = options.identity
    const full = streams.full(user)
    if (full === 'each')
      throw tooMany(`The user ${user} has ${EVENT_STREAMS_PER_USER_MAX} streams of events open already`, RETRY_AFTER_S)
    if (full === 'all') throw new HttpError(503, `${EVENT_STREAMS_MAX} streams of events are open already`)
    const leave = streams.take(user)
    try {
      await run(options, response, signal)
    } finally {
      leave()
    }
  }
}

async function run(options: EventStreamOptions, response: ServerResponse, signal: AbortSignal): Promise<void> {
  const { gantry, request, clock, log } = options
  let { identity } = options
  // The first answer decides whether there is a stream at all.
  let page = await gantry.events(identity, { ...request, timeout_s: 0 })
  response.writeHead(200, {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  })
  response.write(frame('start', { id: request.after ?? page.last }, request.after ?? page.last))
  try {
    while (!signal.aborted) {
      const text = frames(page.gap, page.events, page.last)
      if (!response.write(text) && !(await drained(response, clock, signal)))
        return void response.end(frame('end', { reason: `the reader took no events for ${EVENT_STALL_S} s` }))
      const since = page.last
      page = await gantry.events(identity, { ...request, after: since, timeout_s: EVENT_HEARTBEAT_S })
      const now = await options.again()
      // The user's rights changed while the events were fetched, so they are selected again.
      if (!isDeepStrictEqual(now, identity)) page = await gantry.events(now, { ...request, after: since, timeout_s: 0 })
      identity = now
    }
  } catch (error) {
    response.write(frame('end', { reason: problemOf(error, log).detail }))
  }
  response.end()
}

/** The events of one call. If there are none, a comment shows that the stream is alive. */
function frames(gap: string | null, events: readonly ClusterEvent[], last: string): string {
  if (gap !== null) return frame('gap', { reason: gap }, last)
  if (events.length === 0) return ': nothing new\n\n'
  return events.map(({ id, type, ...rest }) => frame(type, shownEvent(rest), id)).join('')
}

/** The line of a log has its own time. */
export function shownEvent({ time, objects, data }: Pick<ClusterEvent, 'time' | 'objects' | 'data'>) {
  const logged = data['time']
  const more = typeof logged === 'number' ? { time: timeText(logged) } : {}
  return { time: timeText(time), objects: [...objects], data: { ...data, ...more } }
}

function frame(event: string, data: unknown, id?: string): string {
  const idLine = id === undefined ? '' : `id: ${id}\n`
  return `${idLine}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

/** False if the reader has made no room in time. */
async function drained(response: ServerResponse, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const room = new Promise<true>((resolve) => {
    response.once('drain', () => resolve(true))
    signal.addEventListener('abort', () => resolve(true), { once: true })
  })
  return (await within(clock, EVENT_STALL_S, room)) === true
}
