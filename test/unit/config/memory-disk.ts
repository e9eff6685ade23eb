// A disk in memory that can lose power: after `failAfter` operations it writes a part of the next one and then nothing more.
import type { Appender, Disk } from '../../../src/lib/disk'
import { UnsettledAppend } from '../../../src/lib/file/unsettled-append'
import { DiskFaults } from '../../support/disk-faults'

export class MemoryDisk implements Disk {
  readonly files = new Map<string, Buffer>()
  /** Operations until the power goes, and how much of the last one is written (0 to 1). */
  failAfter = Infinity
  tornPart = 0
  /** Every write fails with this message. */
  full: string | undefined
  operations = 0
  readonly faults = new DiskFaults()

  /** The disk as it is after a crash. */
  restart(): MemoryDisk {
    const disk = new MemoryDisk()
    for (const [name, data] of this.files) disk.files.set(name, data)
    return disk
  }

  async read(file: string): Promise<Buffer | undefined> {
    return this.files.get(file)
  }

  async write(file: string, data: string | Buffer): Promise<void> {
    await this.operate(() => {
      for (const step of ['write', 'rename'] as const) this.faults.strike(file, step)
      this.files.set(file, Buffer.from(data))
      this.faults.strike(file, 'sync')
    })
  }

  async openAppender(file: string, options: { truncate?: boolean } = {}): Promise<Appender> {
    if (options.truncate || !this.files.has(file)) this.files.set(file, Buffer.alloc(0))
    let open = this.files.get(file) ?? Buffer.alloc(0)
    return {
      append: (data) =>
        this.operate(
          () => {
            this.faults.strike(file, 'write')
            // Without a name the file goes on, but nobody finds it.
            const set = (content: Buffer) => {
              if (this.files.get(file) === open) this.files.set(file, content)
              open = content
            }
            const before = open
            set(Buffer.concat([open, data]))
            try {
              this.faults.strike(file, 'sync')
            } catch (error) {
              this.takeBack(file, error)
              set(before)
              throw error
            }
          },
          () => this.files.set(file, Buffer.concat([open, data.subarray(0, Math.floor(data.length * this.tornPart))])),
        ),
      size: () => open.length,
      close: async () => undefined,
    }
  }

  private takeBack(file: string, cause: unknown): void {
    try {
      this.faults.strike(file, 'sync')
    } catch {
      throw new UnsettledAppend(file, cause)
    }
  }

  async append(file: string, data: Buffer): Promise<void> {
    await (await this.openAppender(file)).append(data)
  }

  async rename(from: string, to: string): Promise<void> {
    await this.operate(() => {
      const data = this.files.get(from)
      if (!data) throw Object.assign(new Error(`ENOENT: no such file, '${from}'`), { code: 'ENOENT' })
      this.files.delete(from)
      this.files.set(to, data)
    })
  }

  async remove(file: string): Promise<void> {
    await this.operate(() => this.files.delete(file))
  }

  async list(): Promise<string[]> {
    return [...this.files.keys()]
  }

  async makeDirectory(): Promise<void> {}

  async room(): Promise<number> {
    return this.full === undefined ? Infinity : 0
  }

  /** Takes some turns of the loop, as a real disk does, so that others run in between. */
  private async operate(work: () => unknown, torn?: () => unknown): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    if (this.full !== undefined) throw new Error(this.full)
    const left = this.failAfter - this.operations++
    if (left < 0) return new Promise(() => undefined)
    if (left === 0) {
      torn?.()
      return new Promise(() => undefined)
    }
    work()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
