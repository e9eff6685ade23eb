// A sender chooses how small the pieces of its message are. Each piece costs as much work and memory as hundreds of
// bytes.

/**
 * This many pieces may have any size. Beyond that, pieces must have this many bytes on average, as packets of long
 * messages do.
 */
const FREE = 10_000
const BYTES_LEAST = 100

/** Counts the pieces and bytes of a message, up to a limit. */
export class FragmentLimit {
  private count = 0
  private bytes = 0

  constructor(private readonly limit: number) {}

  /** Whether this piece exceeds the limit: too many bytes, or far too many pieces for them. */
  exceed(piece: Buffer): boolean {
    this.count++
    this.bytes += piece.length
    return this.bytes > this.limit || (this.count > FREE && this.bytes < this.count * BYTES_LEAST)
  }
}

/** Most messages are one piece, which need not be copied. */
export function textOf(pieces: readonly Buffer[]): string {
  const [only] = pieces
  return (only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)).toString('utf8')
}
