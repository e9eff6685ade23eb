// The last output of one serial line, counted from its beginning: each viewer reads it at a pace of its own, and who is too slow misses
// the oldest instead of holding up the guest.
import { SERIAL_KEPT_BYTES } from '../../model/limits/consoles'

export class SerialOutput {
  private data: Buffer = Buffer.alloc(0)
  /** How much was said in all. */
  end = 0

  append(said: Buffer): void {
    const all = Buffer.concat([this.data, said])
    // Cutting off at once would copy all of it anew with each few bytes.
    this.data = all.length > 2 * SERIAL_KEPT_BYTES ? Buffer.from(all.subarray(-SERIAL_KEPT_BYTES)) : all
    this.end += said.length
  }

  /** What was said after so much, as far as it is kept. */
  since(seen: number): Buffer {
    const missing = Math.min(Math.max(this.end - seen, 0), SERIAL_KEPT_BYTES)
    return missing === 0 ? Buffer.alloc(0) : this.data.subarray(-missing)
  }
}
