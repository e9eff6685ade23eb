// The connection between the two sides of a mirrored disk. Both sides send requests and answers. Requests are begun in the order in which
// they were sent. Each side looks for a sign of life, since a side that hangs keeps its connection. A frame is the lengths of its head and its body, four bytes each, then the head as JSON, then the body unchanged.
import { isObject } from '../../lib/shapes/shape'
import type * as net from 'node:net'
import { type Clock, type Timer, hearAll } from '../../lib/clock'
import { errorText } from '../../lib/system-failure'
import { GenericError } from '../../model/errors'
import {
  MIRROR_ANSWER_S,
  MIRROR_FLUSH_S,
  MIRROR_FRAME_BYTES_MAX,
  MIRROR_LOOK_S,
  MIRROR_REQUEST_S,
  MIRROR_SILENT_LOOKS,
  MIRROR_SLOWEST_BYTES_S,
} from '../../model/limits/mirror'
import type { Side } from './resync-decision'

export interface Hello extends Side {
  readonly secret: string
  readonly size_bytes: number
  /** This side has data of its own. */
  readonly attached: boolean
  /** While this side is being synchronized, it keeps writes when it is told to. Earlier versions do not. */
  readonly keeps?: boolean
  /** It answers pings at once. Earlier versions do not: they may first wait for their disk. */
  readonly pings?: boolean
}

/** The progress of a copy. */
export interface Progress {
  readonly sync_percent: number
  /** In seconds. */
  readonly estimated_time: number
}

/** The requests of one side to the other. */
export type Request =
  | { readonly verb: 'hello'; readonly hello: Hello }
  /** Is answered at once, or, for `ready`, when a greeting can be answered at once. Earlier versions answer both with a failure. */
  | { readonly verb: 'ping' }
  /** `pings` as in Hello. */
  | { readonly verb: 'ready'; readonly pings?: boolean }
  | { readonly verb: 'write'; readonly offset: number }
  | { readonly verb: 'zero' | 'read'; readonly offset: number; readonly length: number }
  | { readonly verb: 'flush' | 'detached' | 'start' | 'left' }
  | { readonly verb: 'synced'; readonly current: string; readonly history: readonly string[] }
  | { readonly verb: 'resize'; readonly size_bytes: number }
  | { readonly verb: 'role'; readonly primary: boolean }
  | { readonly verb: 'progress'; readonly progress: Progress }
  | { readonly verb: 'pause'; readonly paused: boolean }

export interface Answer {
  readonly hello?: Hello
  readonly body?: Buffer
  /** The number of blocks that are still to be copied. */
  readonly left?: number
  /** The side that is being synchronized has the block already, so it must make the change, too. */
  readonly keep?: boolean
  /** The sender closes the connection after this answer. */
  readonly last?: boolean
}

type Head = { readonly id: number } & (
  | { readonly request: Request }
  | { readonly hello?: Hello; readonly left?: number; readonly keep?: boolean; readonly failed?: string }
)

/** Bytes of the two lengths before a frame. */
const LENGTHS = 8

interface Waiting {
  /** The look at which its answer is late. */
  readonly late: number
  /** Called before any later message of the other side is looked at. */
  readonly heard: (() => void) | undefined
  resolve(answer: Answer): void
  reject(error: Error): void
}

/** The other side is gone. Nobody knows what it did with the last requests. */
export class LinkLost extends GenericError {}

export class Link {
  private readonly waiting = new Map<number, Waiting>()
  private last = 0
  /** What has come of the frames that are not whole yet, how many bytes that is, and how many make the next one whole. */
  private pieces: Buffer[] = []
  private received = 0
  private needed = LENGTHS
  private lost = false
  private timer: Timer | undefined
  private looks = 0
  /** Looks since the other side gave a sign of life. */
  private silent = 0
  private pings = false
  /** The look by which the other side must have asked for something. */
  private firstRequest: number | undefined
  /** Why this side has given the connection up. Empty if it has not. */
  private reason = ''
  private readonly onLost: (() => void)[] = []

  constructor(
    private readonly socket: net.Socket,
    private readonly serve: (request: Request, body: Buffer) => Promise<Answer>,
    private readonly clock: Clock,
  ) {
    this.lookLater()
    socket.on('data', (data: Buffer) => this.receive(data))
    socket.on('error', () => socket.destroy())
    socket.once('close', () => this.end())
  }

  get isOpen(): boolean {
    return !this.lost
  }

  get whyGivenUp(): string {
    return this.reason
  }

  /** The other side answers pings. From now on it must. */
  ping(): void {
    this.pings = true
    this.silent = 0
  }

  /** The other side has made the connection, so it speaks first. */
  awaitRequest(): void {
    this.firstRequest = this.looks + 1 + MIRROR_ANSWER_S / MIRROR_LOOK_S
  }

  whenLost(work: () => void): void {
    if (this.lost) work()
    else this.onLost.push(work)
  }

  ask(request: Request, body: Buffer = EMPTY, heard?: () => void): Promise<Answer> {
    if (this.lost) return Promise.reject(new LinkLost('the other node is not connected'))
    const id = ++this.last
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { late: this.looks + 1 + limitOf(request) / MIRROR_LOOK_S, heard, resolve, reject })
      this.send({ id, request }, body)
    })
  }

  close(): void {
    // Sends what has already been written, then closes.
    this.socket.destroySoon()
    this.end()
  }

  /** The other side may hang, so what was written to it may never be sent. */
  giveUp(why: string): void {
    if (this.lost) return
    this.reason = why
    this.socket.destroy()
    this.end()
  }

  private lookLater(): void {
    this.timer = this.clock.after(MIRROR_LOOK_S * 1000, () => void hearAll().then(() => this.look()), {
      background: true,
    })
  }

  /** Counts looks, not time: when this process itself was stopped, it hears the other side before it looks again. */
  private look(): void {
    if (this.lost) return
    this.looks++
    if (this.pings && ++this.silent >= MIRROR_SILENT_LOOKS) return this.giveUp(NO_ANSWER)
    if (this.firstRequest !== undefined && this.looks > this.firstRequest) return this.giveUp(NO_ANSWER)
    for (const { late } of this.waiting.values()) if (this.looks > late) return this.giveUp(NO_ANSWER)
    // Who sends a large frame over a slow connection hears nothing until it is whole.
    if (this.pings && (this.silent === 1 || this.received > 0)) this.ask({ verb: 'ping' }).catch(() => undefined)
    this.lookLater()
  }

  private send(head: Head, body: Buffer): void {
    const text = Buffer.from(JSON.stringify(head))
    const lengths = Buffer.alloc(LENGTHS)
    lengths.writeUInt32BE(text.length, 0)
    lengths.writeUInt32BE(body.length, 4)
    this.socket.write(Buffer.concat([lengths, text, body]))
  }

  private receive(data: Buffer): void {
    this.silent = -1
    this.pieces.push(data)
    this.received += data.length
    if (this.received < this.needed) return
    let rest = this.pieces.length === 1 ? data : Buffer.concat(this.pieces)
    for (this.needed = LENGTHS; rest.length >= this.needed; this.needed = LENGTHS) {
      const [head, body] = [rest.readUInt32BE(0), rest.readUInt32BE(4)]
      if (head + body > MIRROR_FRAME_BYTES_MAX) return this.close()
      this.needed = LENGTHS + head + body
      if (rest.length < this.needed) break
      const frame = headIn(rest.toString('utf8', LENGTHS, LENGTHS + head))
      if (frame === undefined) return this.close()
      const content = rest.subarray(LENGTHS + head, this.needed)
      rest = rest.subarray(this.needed)
      this.handle(frame, content)
    }
    this.pieces = rest.length === 0 ? [] : [rest]
    this.received = rest.length
  }

  private handle(head: Head, body: Buffer): void {
    if ('request' in head) {
      this.firstRequest = undefined
      return void this.answer(head.id, head.request, body)
    }
    const waiting = this.waiting.get(head.id)
    this.waiting.delete(head.id)
    waiting?.heard?.()
    if (head.failed !== undefined) waiting?.reject(new GenericError(head.failed))
    else
      waiting?.resolve({
        ...(head.hello && { hello: head.hello }),
        left: head.left ?? 0,
        keep: head.keep === true,
        body,
      })
  }

  private async answer(id: number, request: Request, body: Buffer): Promise<void> {
    try {
      const { hello, left = 0, keep = false, body: answer = EMPTY, last } = await this.serve(request, body)
      if (!this.lost) this.send({ id, ...(hello && { hello }), left, ...(keep && { keep }) }, answer)
      if (last) this.close()
    } catch (error) {
      if (!this.lost) this.send({ id, failed: errorText(error) }, EMPTY)
    }
  }

  private end(): void {
    if (this.lost) return
    this.lost = true
    this.timer?.cancel()
    const waiting = [...this.waiting.values()]
    this.waiting.clear()
    for (const one of waiting) one.reject(new LinkLost(this.reason || 'the other node was lost'))
    for (const work of this.onLost) work()
  }
}

export const NO_ANSWER = 'the other node does not answer'

/** Seconds for its answer. */
function limitOf(request: Request): number {
  if (request.verb === 'flush' || request.verb === 'synced') return MIRROR_FLUSH_S
  return MIRROR_REQUEST_S + ('length' in request ? request.length / MIRROR_SLOWEST_BYTES_S : 0)
}

/** Undefined if the other end does not speak our protocol. */
function headIn(text: string): Head | undefined {
  try {
    const head: unknown = JSON.parse(text)
    return isObject(head) ? (head as unknown as Head) : undefined
  } catch {
    return undefined
  }
}

export const EMPTY = Buffer.alloc(0)
