// The server's event streams for pages of the console. A test decides what each stream sends, and when it breaks off.
import type { Problem } from '../../ui/src/api/problem'

export interface OpenedStream {
  readonly cursor: string | undefined
  isOpen: boolean
  say(text: string): void
  event(id: string, type: string, objects: readonly string[]): void
  end(): void
  breakOff(): void
}

export class EventStreams {
  /** In the order in which they were opened. */
  readonly opened: OpenedStream[] = []
  /** The server answers with this instead of a stream. */
  refusal: Problem | undefined

  readonly open = (cursor: string | undefined, signal: AbortSignal): Promise<Response> => {
    if (this.refusal !== undefined) return Promise.reject(this.refusal)
    const { body, stream } = opened(cursor, signal)
    this.opened.push(stream)
    return Promise.resolve(new Response(body))
  }

  get last(): OpenedStream {
    const last = this.opened.at(-1)
    if (last === undefined) throw new Error('No stream was opened')
    return last
  }

  get open_count(): number {
    return this.opened.filter(({ isOpen }) => isOpen).length
  }
}

function opened(cursor: string | undefined, signal: AbortSignal) {
  const ends: { controller?: ReadableStreamDefaultController<Uint8Array> } = {}
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (ends.controller = controller) })
  const say = (text: string) => ends.controller?.enqueue(new TextEncoder().encode(text))
  const stream: OpenedStream = {
    cursor,
    isOpen: true,
    say,
    event: (id, type, objects) => say(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ objects })}\n\n`),
    end: () => over(() => ends.controller?.close()),
    breakOff: () => over(() => ends.controller?.error(new TypeError('network error'))),
  }
  const over = (how: () => void) => {
    if (stream.isOpen) how()
    stream.isOpen = false
  }
  signal.addEventListener('abort', () => over(() => ends.controller?.error(new DOMException('', 'AbortError'))))
  return { body, stream }
}
