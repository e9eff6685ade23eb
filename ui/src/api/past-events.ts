// Events from some way back, and on as they come: for lists of what has happened.
import { send } from './client'
import type { PastEvent } from './past-event'
import { framesOf } from './events'

/** How far back it is looked. */
const BACK = 2000

/** `query`: which ones, as `/3/events` has it. */
export async function followFromBefore(
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
  hear: (event: PastEvent) => void,
): Promise<void> {
  const path = `/3/events?${new URLSearchParams(query).toString()}`
  const from = await startOf(path, signal)
  const answer = await send(new Request(path, { headers: { 'Last-Event-ID': from }, signal }))
  for await (const { id, type, data } of framesOf(answer)) {
    if (id === undefined || type === 'start' || type === 'gap' || type === 'end') continue
    hear({ ...(JSON.parse(data) as Omit<PastEvent, 'id' | 'type'>), id, type })
  }
}

/** The stream begins with its newest event: events are numbered, so those before are known by their numbers. */
async function startOf(path: string, signal: AbortSignal): Promise<string> {
  const leaving = new AbortController()
  const stop = () => leaving.abort()
  signal.addEventListener('abort', stop)
  try {
    const answer = await send(new Request(path, { signal: leaving.signal }))
    for await (const { id } of framesOf(answer)) {
      const [, epoch = '', last = '0'] = /^(.*)-(\d+)$/.exec(id ?? '') ?? []
      return `${epoch}-${Math.max(0, Number(last) - BACK)}`
    }
    return ''
  } finally {
    signal.removeEventListener('abort', stop)
    leaving.abort()
  }
}
