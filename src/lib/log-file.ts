// A log file that bounds itself: when it is full it becomes FILE.1, in the place of the one before, and a new one begins. Several
// processes may write one. A file that somebody else has moved away, as logrotate does, is left for a new one without being asked.
import * as fs from 'node:fs'
import * as path from 'node:path'

export interface LogFileOptions {
  readonly file: string
  readonly bytes_max: number
  /** Bytes that are written before it checks how long the file is, and whether it is still there. */
  readonly unlooked_bytes: number
  /** Gives a new file to its owner. */
  opened?(file: string): void
}

export class LogFile {
  private fd: number | undefined
  private unlooked = 0

  constructor(private readonly options: LogFileOptions) {
    this.fd = this.look(undefined)
  }

  /** A failure to write the log must not make the caller fail: the disk may be full, and the reason would have to be logged. */
  write(line: string): void {
    try {
      this.unlooked += line.length
      if (this.fd === undefined || this.unlooked > this.options.unlooked_bytes) this.fd = this.look(this.fd)
      fs.writeSync(this.fd, line)
    } catch {
      this.fd = this.close(this.fd)
    }
  }

  /** Who else writes it may have moved it meanwhile. */
  private look(fd: number | undefined): number {
    const { file, bytes_max, opened } = this.options
    this.unlooked = 0
    const there = fs.statSync(file, { throwIfNoEntry: false })
    const isFull = there !== undefined && there.size >= bytes_max
    if (isFull) fs.renameSync(file, `${file}.1`)
    if (fd !== undefined && !isFull && there !== undefined && there.ino === fs.fstatSync(fd).ino) return fd
    this.close(fd)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    const next = fs.openSync(file, 'a', 0o600)
    opened?.(file)
    return next
  }

  private close(fd: number | undefined): undefined {
    this.fd = undefined
    if (fd !== undefined) fs.closeSync(fd)
  }
}
