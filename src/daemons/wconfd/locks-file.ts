// locks.data. Each state of the table is appended as a line: that costs a tenth of replacing the file, and every job
// does it twice. The last whole line counts. A clean stop leaves only that line, as Ganeti does.
import type { Appender, Disk } from '../../lib/disk'
import { LOCKS_FILE_BYTES_MAX } from '../../model/limits/wconfd'

export class LocksFile {
  private appender: Appender | undefined

  constructor(
    private readonly disk: Disk,
    private readonly file: string,
  ) {}

  /** The last completely saved state. */
  async read(): Promise<string | undefined> {
    const lines = (await this.disk.read(this.file))?.toString('utf8').split('\n')
    return lines?.at(lines.length > 1 ? -2 : -1)
  }

  /** Not synced: it is for the next run of the daemon. A crash of the machine ends all owners and their locks. */
  async save(state: string): Promise<void> {
    const line = Buffer.from(`${state}\n`)
    const { appender } = this
    if (appender === undefined || appender.size() + line.length > LOCKS_FILE_BYTES_MAX) return this.replace(line)
    try {
      await appender.append(line)
    } catch (error) {
      // The file may end with part of a line, so nothing is appended to it.
      await this.forget()
      throw error
    }
  }

  /** Leaves only the state, as Ganeti writes it. */
  async close(state: string): Promise<void> {
    await this.forget()
    await this.write(state)
  }

  private async replace(line: Buffer): Promise<void> {
    await this.forget()
    await this.write(line)
    this.appender = await this.disk.openAppender(this.file, { durable: false })
  }

  private write(data: string | Buffer): Promise<void> {
    return this.disk.write(this.file, data, { durable: false })
  }

  private async forget(): Promise<void> {
    const { appender } = this
    this.appender = undefined
    await appender?.close()
  }
}
