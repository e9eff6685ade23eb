// Reads small files again and again, such as the kernel's figures. Such a file does not state its length, so Node's
// readFile allocates 64 KiB for each. One look at all processes of a machine took some twenty MiB until the next
// garbage collection.
import type * as promises from 'node:fs/promises'

const FIRST_BYTES = 8192
/** Reads at the same time: Node has four threads for them. */
const PLACES = 4

export class SmallFiles {
  private made = 0
  private readonly idle: Buffer[] = []
  private readonly waiting: ((buffer: Buffer) => void)[] = []

  constructor(private readonly files: Pick<typeof promises, 'open'>) {}

  /** The whole file as text. */
  async read(file: string, encoding: BufferEncoding = 'utf8'): Promise<string> {
    const buffer = await this.take()
    try {
      return await this.readInto(buffer, file, encoding)
    } finally {
      const next = this.waiting.shift()
      if (next === undefined) this.idle.push(buffer)
      else next(buffer)
    }
  }

  private take(): Buffer | Promise<Buffer> {
    const idle = this.idle.pop()
    if (idle !== undefined) return idle
    if (this.made === PLACES) return new Promise((resolve) => this.waiting.push(resolve))
    this.made++
    return Buffer.allocUnsafeSlow(FIRST_BYTES)
  }

  private async readInto(input: Buffer, file: string, encoding: BufferEncoding): Promise<string> {
    const handle = await this.files.open(file, 'r')
    try {
      let buffer = input
      for (let length = 0; ;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null)
        if (bytesRead === 0) return buffer.toString(encoding, 0, length)
        length += bytesRead
        if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * length)
      }
    } finally {
      await handle.close()
    }
  }
}
