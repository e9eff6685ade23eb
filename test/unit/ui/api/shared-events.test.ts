// Pages of one browser share a stream of events: one reads it, and another one goes on when that is closed or hangs.
import type { News } from '../../../../ui/src/api/event-stream'
import { Problem } from '../../../../ui/src/api/problem'
import { SharedEvents, type Surroundings } from '../../../../ui/src/api/shared-events'
import { EventStreams } from '../../../support/event-streams'

let streams: EventStreams
let browser: Browser
let pages: Page[]

beforeEach(() => {
  jest.useFakeTimers()
  streams = new EventStreams()
  browser = new Browser()
  pages = []
})
afterEach(() => {
  for (const { shared } of pages) shared.close()
  jest.useRealTimers()
})

const after = (ms: number) => jest.advanceTimersByTimeAsync(ms)

interface Page {
  readonly shared: SharedEvents
  readonly news: News[]
  readonly heard: () => string[]
  readonly last: () => News | undefined
  readonly missed: () => number
  /** It does nothing any more, and still has all that it has. */
  readonly freeze: () => void
  readonly thaw: () => void
}

async function open(): Promise<Page> {
  const news: News[] = []
  const line = { isFrozen: false }
  const surroundings: Surroundings = {
    open: (cursor, signal) => (line.isFrozen ? new Promise(() => undefined) : streams.open(cursor, signal)),
    locks: browser,
    channel: (_name, hear) => browser.channel(line, hear),
  }
  const shared = new SharedEvents('session', surroundings, (one) => void (line.isFrozen || news.push(one)))
  const page: Page = {
    ...{ shared, news },
    heard: () => news.flatMap(({ events }) => events.flatMap(({ objects }) => objects)),
    last: () => news.at(-1),
    missed: () => news.filter(({ missed }) => missed).length,
    freeze: () => void (line.isFrozen = true),
    thaw: () => void (line.isFrozen = false),
  }
  pages.push(page)
  await after(0)
  return page
}

async function begin(): Promise<void> {
  streams.last.event('e-0', 'start', [])
  await after(0)
}

async function happen(n: number): Promise<void> {
  streams.last.event(`e-${n}`, 'config', [`instance/web${n}`])
  await after(0)
}

test('many pages have one stream, and each hears every event and whether it lives', async () => {
  const first = await open()
  await begin()
  const others = [await open(), await open(), await open(), await open(), await open(), await open()]
  await happen(1)
  expect(streams.opened).toHaveLength(1)
  for (const page of [first, ...others])
    expect([page.heard(), page.last()?.connection]).toEqual([['instance/web1'], 'live'])
})

test('a page that is opened later may have missed something before it heard, and only then', async () => {
  const first = await open()
  await begin()
  const later = await open()
  expect([first.missed(), later.missed()]).toEqual([1, 1])
  await happen(1)
  expect([first.missed(), later.missed()]).toEqual([1, 1])
})

test('when the page that reads is closed, the next one goes on after the last event, and no page misses one', async () => {
  const first = await open()
  await begin()
  const second = await open()
  const third = await open()
  await happen(1)
  first.shared.close()
  await after(0)
  expect(streams.opened.map(({ cursor, isOpen }) => [cursor, isOpen])).toEqual([
    [undefined, false],
    ['e-1', true],
  ])
  await happen(2)
  for (const page of [second, third])
    expect([page.heard(), page.missed()]).toEqual([['instance/web1', 'instance/web2'], 1])
  second.shared.close()
  await after(0)
  await happen(3)
  expect([streams.opened.length, streams.open_count, third.heard().at(-1)]).toEqual([3, 1, 'instance/web3'])
})

test('when the next one has heard of nothing yet, all look anew', async () => {
  const first = await open()
  const second = await open()
  first.shared.close()
  await after(0)
  const third = await open()
  await begin()
  expect([second.missed(), third.missed()]).toEqual([1, 1])
})

test('a page that reads and hangs loses its place, and waits for its turn when it comes back', async () => {
  const first = await open()
  await begin()
  const second = await open()
  await happen(1)
  first.freeze()
  await after(45_000)
  expect(streams.last.cursor).toBe('e-1')
  await happen(2)
  expect(second.heard()).toEqual(['instance/web1', 'instance/web2'])
  first.thaw()
  await happen(3)
  expect([first.heard(), streams.open_count]).toEqual([['instance/web1', 'instance/web3'], 1])
  second.shared.close()
  await after(0)
  expect([streams.last.cursor, streams.open_count]).toEqual(['e-3', 1])
  await happen(4)
  expect(first.heard().at(-1)).toBe('instance/web4')
})

test('one whose attempts hang keeps its place, and the others know that there is no stream', async () => {
  await open()
  await begin()
  const second = await open()
  let attempts = 0
  jest.spyOn(streams, 'open').mockImplementation(
    (_cursor, signal) =>
      new Promise((_resolve, reject) => {
        attempts++
        signal.addEventListener('abort', () => reject(new Error('hangs')))
      }),
  )
  streams.last.end()
  // Each attempt is given up after 40 seconds, and the next one comes soon.
  await after(90_000)
  expect([attempts, second.last()?.connection]).toEqual([3, 'lost'])
})

test('one whose attempts come too late loses its place sooner', async () => {
  const first = await open()
  await begin()
  const second = await open()
  streams.last.end()
  await after(0)
  expect(second.last()?.connection).toBe('lost')
  first.freeze()
  await after(15_000)
  await happen(2)
  expect(second.last()?.connection).toBe('live')
})

test('a stream that says only that it lives is not taken from its page', async () => {
  await open()
  await begin()
  const second = await open()
  for (let at_s = 0; at_s < 300; at_s += 15) {
    streams.last.say(': nothing new\n\n')
    await after(15_000)
  }
  expect([streams.opened.length, second.last()?.connection]).toEqual([1, 'live'])
})

test('who may not see events asks once for all pages', async () => {
  streams.refusal = new Problem(403, 'not allowed')
  const requested = jest.spyOn(streams, 'open')
  const first = await open()
  const second = await open()
  expect([first.last()?.connection, second.last()?.connection]).toEqual(['denied', 'denied'])
  expect(requested).toHaveBeenCalledTimes(1)
})

test('when the session is over, each page finds it out, and none tries again', async () => {
  await open()
  await begin()
  await open()
  await open()
  const requested = jest.spyOn(streams, 'open')
  streams.refusal = new Problem(401, 'over')
  streams.last.end()
  await after(600_000)
  expect(requested).toHaveBeenCalledTimes(3)
  expect(pages.map(({ last }) => last()?.connection)).toEqual(['lost', 'lost', 'lost'])
})

interface Held {
  readonly lose: (why: unknown) => void
}

/** What a browser has for its pages. */
class Browser {
  private held: Held | undefined
  private readonly queue: (() => void)[] = []
  private readonly channels = new Set<{ readonly hear: (message: unknown) => void }>()

  request(
    _name: string,
    options: { readonly signal?: AbortSignal; readonly steal?: boolean },
    hold: () => Promise<void>,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const lose = () => reject(new DOMException('', 'AbortError'))
      const begin = () => {
        const mine = (this.held = { lose })
        void Promise.resolve(hold())
          .then(resolve, reject)
          .finally(() => {
            if (this.held === mine) this.next()
          })
      }
      if (options.steal === true) {
        this.held?.lose(undefined)
        return begin()
      }
      if (this.held === undefined) return begin()
      this.queue.push(begin)
      options.signal?.addEventListener('abort', () => {
        const at = this.queue.indexOf(begin)
        if (at >= 0) this.queue.splice(at, 1)
        lose()
      })
    })
  }

  private next(): void {
    this.held = undefined
    this.queue.shift()?.()
  }

  channel(line: { readonly isFrozen: boolean }, hear: (message: unknown) => void) {
    const own = {
      hear,
      postMessage: (message: unknown) => {
        if (line.isFrozen) return
        for (const other of this.channels)
          if (other !== own) queueMicrotask(() => this.channels.has(other) && other.hear(message))
      },
      close: () => void this.channels.delete(own),
    }
    this.channels.add(own)
    return own
  }
}
