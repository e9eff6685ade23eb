// One stream of events for all pages of this browser, which has only six connections to a server for all of them. One page reads it and
// tells the others; when it is closed, the next one goes on after the last event that it has heard of. A lock says which page it is.
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

/** Asked by a page that has just been opened. */
const HOW_IS_IT = 'how is it?'
/** A page that reads says something with each sign of life of the server; one that says nothing is frozen, and loses its place. */
const SILENCE_MS = (SILENCE_S + 5) * 1000
/** While there is no stream, each attempt is told. A page that nobody looks at makes them late, since browsers slow down its clock. */
const LOST_SILENCE_MS = 15_000
/** An attempt may take longer than that. */
const REPEAT_MS = 10_000

export class SharedEvents {
  private readonly channel: Channel
  /** Ends the wait for being the page that reads, and the reading. */
  private turn = new AbortController()
  private isReading = false
  private silence: ReturnType<typeof setTimeout> | undefined
  private last: News = { connection: 'connecting', cursor: undefined, events: [], missed: false }

  /** Pages that give the same name share what they hear. */
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
      // The session is over, as each page finds out for itself.
      if (!signal.aborted) this.close()
    } catch {
      // Another page reads instead of this one, which waits for its next turn.
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
    // What a former reader still says, this one reads itself.
    if (this.isReading) return
    const news = message as News
    // What this page has asked for before it heard of anything may have changed since.
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
