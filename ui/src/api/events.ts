// The one stream of events of this page. It begins again by itself where it was broken off, so that no event is lost, and tells whether it
// lives.
import { useSyncExternalStore } from 'react'
import { send } from './client'
import { Problem } from './problem'

export interface ClusterEvent {
  readonly type: string
  /** `instance/web1` */
  readonly objects: readonly string[]
}

/** `denied`: the user may not see events, so pages ask again now and then. */
export type Connection = 'connecting' | 'live' | 'lost' | 'denied'

const WAITS_S = [1, 2, 5, 10]

let connection: Connection = 'connecting'
const watchers = new Set<() => void>()

const become = (next: Connection): void => {
  connection = next
  for (const watcher of watchers) watcher()
}

const subscribe = (watcher: () => void) => {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection)

/** Follows the events until the returned function is called. `missed` means that some cannot be told any more. */
export function followEvents(seen: (event: ClusterEvent) => void, missed: () => void): () => void {
  const leaving = new AbortController()
  let cursor: string | undefined
  let failures = 0

  async function once(): Promise<void> {
    const headers = cursor === undefined ? undefined : { 'Last-Event-ID': cursor }
    const answer = await send(new Request('/3/events', { headers, signal: leaving.signal }))
    become('live')
    failures = 0
    for await (const { id, type, data } of framesOf(answer)) {
      if (id !== undefined) cursor = id
      if (type === 'gap') missed()
      else if (type !== 'start' && type !== 'end') seen({ type, objects: objectsOf(data) })
    }
  }

  async function forever(): Promise<void> {
    become('connecting')
    while (!leaving.signal.aborted) {
      try {
        await once()
      } catch (error) {
        if (error instanceof Problem && error.status === 403) return become('denied')
        // Without a session there is nothing to try until somebody has signed in again.
        if (error instanceof Problem && error.status === 401) return become('lost')
      }
      if (leaving.signal.aborted) return
      become('lost')
      const wait_s = WAITS_S[Math.min(failures++, WAITS_S.length - 1)] ?? 10
      await new Promise((resolve) => setTimeout(resolve, wait_s * 1000))
    }
  }

  void forever()
  return () => leaving.abort()
}

interface Frame {
  id?: string
  type: string
  data: string
}

export async function* framesOf({ body }: Response): AsyncGenerator<Frame> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const whole = (text + value).split('\n\n')
    text = whole.pop() ?? ''
    for (const frame of whole) {
      const fields = new Map(
        frame.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      )
      const type = fields.get('event')
      if (type !== undefined) yield { id: fields.get('id'), type, data: fields.get('data') ?? '' }
    }
  }
}

function objectsOf(data: string): string[] {
  const told: unknown = JSON.parse(data)
  if (typeof told !== 'object' || told === null || !('objects' in told) || !Array.isArray(told.objects)) return []
  return told.objects.map(String)
}
