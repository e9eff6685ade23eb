// Messages come in pieces as small as their sender wants. Each piece costs as much work and memory as hundreds of bytes.

/** So many pieces may be of any size; of more, each must bring so many bytes on average, as every packet of a long message does. */
const FREE = 10_000
const BYTES_LEAST = 100

/** Counts what comes of a message, up to a limit. */
export class Pieces {
  private count = 0
  private bytes = 0

  constructor(private readonly limit: number) {}

  /** Whether with this piece it is too much: too many bytes, or far too many pieces for them. */
  exceed(piece: Buffer): boolean {
    this.count++
    this.bytes += piece.length
    return this.bytes > this.limit || (this.count > FREE && this.bytes < this.count * BYTES_LEAST)
  }
}

/** Most messages come in one piece, which need not be copied. */
export function textOf(pieces: readonly Buffer[]): string {
  const [only] = pieces
  return (only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)).toString('utf8')
}
