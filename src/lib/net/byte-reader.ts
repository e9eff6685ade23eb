// Reads a stream of bytes in pieces of a wanted length, and the rest as it comes.
export class ByteReader {
  private readonly source: AsyncIterator<Buffer>
  private held: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.source = source[Symbol.asyncIterator]()
  }

  /** Throws if the stream ends earlier. */
  async take(length: number): Promise<Buffer> {
    const pieces = [this.held]
    let there = this.held.length
    while (there < length) {
      const piece = await this.next()
      if (piece === undefined) throw new Error('the other end has closed the connection')
      pieces.push(piece)
      there += piece.length
    }
    const all = pieces.length === 1 ? this.held : Buffer.concat(pieces)
    this.held = all.subarray(length)
    return all.subarray(0, length)
  }

  /** Reads and drops, piece by piece. */
  async skip(length: number): Promise<void> {
    for (let left = length; left > 0;) {
      const piece = this.held.length > 0 ? this.held : await this.next()
      if (piece === undefined) return
      this.held = piece.subarray(left)
      left -= piece.length
    }
  }

  /** The remaining bytes. */
  async *rest(): AsyncGenerator<Buffer> {
    if (this.held.length > 0) yield this.held
    this.held = Buffer.alloc(0)
    for (let piece = await this.next(); piece !== undefined; piece = await this.next()) yield piece
  }

  private async next(): Promise<Buffer | undefined> {
    const { value, done } = await this.source.next()
    return done === true ? undefined : value
  }
}
