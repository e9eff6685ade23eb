// The last output of a serial line, counted from its beginning. Each viewer reads at its own pace; a slow one misses
// the oldest output, but never holds up the guest.
import { SERIAL_KEPT_BYTES } from '../../model/limits/consoles'

export class SerialOutput {
  private data: Buffer = Buffer.alloc(0)
  /** The number of all output bytes. */
  end = 0

  append(said: Buffer): void {
    const all = Buffer.concat([this.data, said])
    // Trims only at twice the size: trimming each time would copy everything for a few bytes.
    this.data = all.length > 2 * SERIAL_KEPT_BYTES ? Buffer.from(all.subarray(-SERIAL_KEPT_BYTES)) : all
    this.end += said.length
  }

  /** The output after this position, as far as it is kept. */
  since(observed: number): Buffer {
    const missing = Math.min(Math.max(this.end - observed, 0), SERIAL_KEPT_BYTES)
    return missing === 0 ? Buffer.alloc(0) : this.data.subarray(-missing)
  }
}
