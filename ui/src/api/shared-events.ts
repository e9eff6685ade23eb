// All pages of a browser share one event stream, because a browser opens only six connections to a server. The page that holds a lock reads the
// stream and forwards it to the other pages. When it closes, the next page continues after the last event that it has received.
import { followEvents, type News, SILENCE_S } from './event-stream'

export interface Surroundings {
  readonly open: (cursor: string | undefined, signal: AbortSignal) => Promise<Response>
  readonly locks: Locks
  readonly channel: (name: string, hear: (message: unknown) => void) => Channel
}

interface Locks {
  request(
    name: string,
    options: { readonly signal?: AbortSignal; readonly steal?: boolean },
    hold: () => Promise<void>,
  ): Promise<unknown>
}

interface Channel {
  postMessage(message: unknown): void
  close(): void
}

/** The question of a page that was just opened. */
const HOW_IS_IT = 'how is it?'
/** The reading page forwards each sign of life of the server. If it is silent for longer, it is frozen, and another page takes its place. */
const SILENCE_MS = (SILENCE_S + 5) * 1000
/** Without a stream, the reading page reports each attempt. Attempts of a hidden page may be late, since browsers slow down its timers. */
const LOST_SILENCE_MS = 15_000
/** A single attempt may take longer than `LOST_SILENCE_MS`, so the reading page repeats its state. */
const REPEAT_MS = 10_000

export class SharedEvents {
  private readonly channel: Channel
  /** Ends the wait for the lock, and the reading. */
  private turn = new AbortController()
  private isReading = false
  private silence: ReturnType<typeof setTimeout> | undefined
  private last: News = { connection: 'connecting', cursor: undefined, events: [], missed: false }

  /** Pages that give the same name share one stream. */
  constructor(
    private readonly name: string,
    private readonly surroundings: Surroundings,
    private readonly hear: (news: News) => void,
  ) {
    this.channel = surroundings.channel(name, (message) => this.told(message))
    this.channel.postMessage(HOW_IS_IT)
    this.listen()
    void this.waitForTurn({})
  }

  close(): void {
    this.turn.abort()
    clearTimeout(this.silence)
    this.channel.close()
  }

  private async waitForTurn(how: { readonly steal?: boolean }): Promise<void> {
    this.turn.abort()
    const { signal } = (this.turn = new AbortController())
    try {
      const options = how.steal === true ? how : { signal }
      await this.surroundings.locks.request(this.name, options, () => this.read(signal))
      // The session has ended. Each page detects this itself.
      if (!signal.aborted) this.close()
    } catch {
      // Another page has taken the lock, so this page waits for it again.
      if (signal.aborted || !this.isReading) return
      this.isReading = false
      this.listen()
      void this.waitForTurn({})
    }
  }

  private async read(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    this.isReading = true
    clearTimeout(this.silence)
    const { open } = this.surroundings
    const tell = (news: News) => {
      if (signal.aborted) return
      this.take(news)
      this.channel.postMessage(news)
    }
    const repeating = setInterval(() => {
      if (!signal.aborted && this.last.connection !== 'live') this.repeat()
    }, REPEAT_MS)
    try {
      await followEvents({ open, cursor: this.last.cursor, signal, tell })
    } finally {
      clearInterval(repeating)
    }
  }

  private told(message: unknown): void {
    if (message === HOW_IS_IT) {
      if (this.isReading) this.repeat()
      return
    }
    // Ignores messages of the previous reader, because this page reads the stream itself.
    if (this.isReading) return
    const news = message as News
    // Data that this page loaded before the first message may have changed since.
    this.take({ ...news, missed: news.missed || (this.last.cursor === undefined && news.cursor !== undefined) })
    this.listen()
  }

  private repeat(): void {
    this.channel.postMessage({ ...this.last, events: [], missed: false })
  }

  private listen(): void {
    clearTimeout(this.silence)
    const silence_ms = this.last.connection === 'lost' ? LOST_SILENCE_MS : SILENCE_MS
    this.silence = setTimeout(() => void this.waitForTurn({ steal: true }), silence_ms)
  }

  private take(news: News): void {
    this.last = news
    this.hear(news)
  }
}
