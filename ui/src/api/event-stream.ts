// Reads the event stream. After an interruption it continues after the last event, so no event is lost. It reports the state of the connection.
import { type ToldLine, toldLine } from './log-lines'
import { Problem } from './problem'

export interface ClusterEvent {
  readonly type: string
  /** `instance/web1` */
  readonly objects: readonly string[]
  /** The opcodes of a job that have ended: `OP_BACKUP_REMOVE`. */
  readonly ended?: readonly string[]
  /** What a job has logged. */
  readonly line?: ToldLine
}

/** `denied`: the user may not see events. */
export type Connection = 'connecting' | 'live' | 'lost' | 'denied'

export interface News {
  readonly connection: Connection
  /** A stream that starts here loses no later event. */
  readonly cursor: string | undefined
  readonly events: readonly ClusterEvent[]
  /** Changes may have happened without an event. */
  readonly missed: boolean
}

interface Following {
  /** Requests the events after a cursor. Without a cursor, it requests the events from now on. */
  readonly open: (cursor: string | undefined, signal: AbortSignal) => Promise<Response>
  readonly cursor: string | undefined
  readonly signal: AbortSignal
  readonly tell: (news: News) => void
}

const WAITS_S = [1, 2, 5, 10]
/** The user may get the permission later, so the page tries again after this time. */
const DENIED_WAIT_S = 30
/** The server sends something every 15 seconds. If it is silent for longer, it may have crashed. */
export const SILENCE_S = 40

/** Follows the events until it is aborted, or until the session has ended. */
export async function followEvents({ open, cursor: from, signal, tell }: Following): Promise<void> {
  let cursor = from
  let failures = 0
  const say = (connection: Connection, received: Partial<News> = {}) =>
    tell({ connection, cursor, events: [], missed: false, ...received })
  while (!signal.aborted) {
    let wait_s: number | undefined
    try {
      for await (const frames of framesOf((leaving) => open(cursor, leaving), signal)) {
        // Data that was loaded before the stream started may have changed in between.
        const missed = frames.some(({ type }) => type === 'gap' || (type === 'start' && cursor === undefined))
        cursor = frames.findLast(({ id }) => id !== undefined)?.id ?? cursor
        failures = 0
        say('live', { cursor, missed, events: frames.flatMap(eventOf) })
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof Problem && error.status === 401) return say('lost')
      if (error instanceof Problem && error.status === 403) wait_s = DENIED_WAIT_S
    }
    if (signal.aborted) return
    say(wait_s === undefined ? 'lost' : 'denied')
    await pause(wait_s ?? WAITS_S[Math.min(failures++, WAITS_S.length - 1)] ?? 10, signal)
  }
}

interface Frame {
  readonly id?: string
  readonly type: string
  readonly data: string
}

/** Yields lists of frames as they arrive. An empty list is only a sign of life. */
async function* framesOf(
  open: (leaving: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
): AsyncGenerator<readonly Frame[]> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  signal.addEventListener('abort', leave)
  let silence = setTimeout(leave, SILENCE_S * 1000)
  try {
    const { body } = await open(leaving.signal)
    if (body === null) return
    let text = ''
    const reader = body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(silence)
      silence = setTimeout(leave, SILENCE_S * 1000)
      const whole = (text + value).split('\n\n')
      text = whole.pop() ?? ''
      yield whole.flatMap(frameOf)
    }
  } finally {
    clearTimeout(silence)
    signal.removeEventListener('abort', leave)
    leave()
  }
}

function frameOf(text: string): Frame[] {
  const fields = new Map(
    text.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const type = fields.get('event')
  return type === undefined ? [] : [{ id: fields.get('id'), type, data: fields.get('data') ?? '' }]
}

const SAYS_NOTHING: ReadonlySet<string> = new Set(['start', 'gap', 'end'])

function eventOf({ type, data }: Frame): ClusterEvent[] {
  if (SAYS_NOTHING.has(type)) return []
  const { objects, data: more } = parts(JSON.parse(data))
  const line = type === 'log' ? toldLine(parts(more)) : undefined
  const ended = listOf(parts(more)['ops'])
    .map(parts)
    .filter(({ status }) => ENDS.has(status))
  return [
    {
      ...{ type, objects: listOf(objects).map(String) },
      ...(line !== undefined && { line }),
      ...(ended.length > 0 && { ended: ended.map(({ OP_ID }) => String(OP_ID)) }),
    },
  ]
}

const parts = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const ENDS: ReadonlySet<unknown> = new Set(['success', 'error', 'canceled'])

function pause(wait_s: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, wait_s * 1000)
    signal.addEventListener('abort', end)
  })
}
