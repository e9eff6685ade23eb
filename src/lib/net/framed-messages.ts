// Messages of two kinds over one stream, in both directions: texts, and bytes. A message is one byte for its kind, four
// for its length, and the content. A slow reader holds up the other end; nothing is buffered for it.
import { Duplex } from 'node:stream'
import { roomIn } from '../work/written'

const HEAD_BYTES = 5
const KIND = { bytes: 0, text: 1 } as const
/** Messages that may wait for their reader. */
const WAITING_MAX = 4

/** Texts are read and written as strings. It ends when the stream ends or breaks. */
export function framedMessages(stream: Duplex, bytesMax: number): Duplex {
  return new FramedMessages(stream, bytesMax)
}

class FramedMessages extends Duplex {
  private rest: Buffer = Buffer.alloc(0)

  constructor(
    private readonly stream: Duplex,
    private readonly bytesMax: number,
  ) {
    super({ readableObjectMode: true, readableHighWaterMark: WAITING_MAX, decodeStrings: false, allowHalfOpen: false })
    stream.on('data', (data: Buffer) => this.receive(data))
    // A broken stream ends the messages.
    stream.on('error', () => this.push(null))
    stream.once('end', () => this.push(null))
    stream.once('close', () => this.push(null))
  }

  override _read(): void {
    this.stream.resume()
  }

  override _write(message: Buffer | string, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const isText = typeof message === 'string'
    const data = isText ? Buffer.from(message) : message
    // Bytes may arrive in different pieces, but a text is always one message.
    if (isText && data.length > this.bytesMax) return done(new Error(`a text of ${data.length} bytes is too long`))
    for (let at = 0; at === 0 || at < data.length; at += this.bytesMax) {
      const part = data.subarray(at, at + this.bytesMax)
      const head = Buffer.alloc(HEAD_BYTES)
      head.writeUInt8(isText ? KIND.text : KIND.bytes)
      head.writeUInt32BE(part.length, 1)
      this.stream.write(head)
      this.stream.write(part)
    }
    if (!this.stream.writableNeedDrain || this.stream.destroyed) return done()
    void roomIn(this.stream).then(() => done())
  }

  override _final(done: () => void): void {
    this.stream.end()
    done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.stream.destroy()
    done(error)
  }

  private receive(data: Buffer): void {
    this.rest = this.rest.length === 0 ? data : Buffer.concat([this.rest, data])
    while (this.rest.length >= HEAD_BYTES) {
      const length = this.rest.readUInt32BE(1)
      if (length > this.bytesMax) return void this.destroy(new Error(`a message of ${length} bytes is too long`))
      if (this.rest.length < HEAD_BYTES + length) return
      const said = this.rest.subarray(HEAD_BYTES, HEAD_BYTES + length)
      const isText = this.rest.readUInt8() === KIND.text
      this.rest = this.rest.subarray(HEAD_BYTES + length)
      if (!this.push(isText ? said.toString('utf8') : said)) this.stream.pause()
    }
  }
}
