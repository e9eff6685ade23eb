// A log file that limits itself: a full file becomes FILE.1, replaces the previous one, and a new file begins. Several
// processes may write it. If somebody has moved the file away, as logrotate does, we begin a new one.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { errorCode } from '../disk'

export interface LogFileOptions {
  readonly file: string
  readonly bytes_max: number
  /** Bytes between two checks of the file's length and existence. */
  readonly unlooked_bytes: number
  /** Called for a new file, to give it its owner. */
  opened?(file: string): void
}

export class LogFile {
  private fd: number | undefined
  private unlooked = 0

  constructor(private readonly options: LogFileOptions) {
    this.fd = this.look(undefined)
  }

  /**
   * A failure to write must not fail the caller: the disk may be full, and the failure itself would have to be logged.
   */
  write(line: string): void {
    try {
      this.unlooked += line.length
      if (this.fd === undefined || this.unlooked > this.options.unlooked_bytes) this.fd = this.look(this.fd)
      fs.writeSync(this.fd, line)
    } catch {
      this.fd = this.close(this.fd)
    }
  }

  /** Another process that writes it may have moved it meanwhile. */
  private look(fd: number | undefined): number {
    const { file, opened } = this.options
    this.unlooked = 0
    const there = fs.statSync(file, { throwIfNoEntry: false })
    const isFull = there !== undefined && there.size >= this.options.bytes_max
    if (isFull) this.rotate()
    if (fd !== undefined && !isFull && there !== undefined && there.ino === fs.fstatSync(fd).ino) return fd
    this.close(fd)
    fs.mkdirSync(path.dirname(file), { recursive: true })
    const next = fs.openSync(file, 'a', 0o600)
    opened?.(file)
    return next
  }

  /**
   * Another process may have rotated the file a moment ago. So the file first gets a name of our own, and if it is not the full one after
   * all, its lines go to the file that others write.
   */
  private rotate(): void {
    const { file } = this.options
    const own = `${file}.${process.pid}`
    try {
      fs.renameSync(file, own)
    } catch (error) {
      // Another process has just done it.
      if (errorCode(error) === 'ENOENT') return
      throw error
    }
    if (fs.statSync(own).size >= this.options.bytes_max) return fs.renameSync(own, `${file}.1`)
    try {
      fs.linkSync(own, file)
    } catch {
      fs.appendFileSync(file, fs.readFileSync(own))
    }
    fs.rmSync(own)
  }

  private close(fd: number | undefined): undefined {
    this.fd = undefined
    if (fd !== undefined) fs.closeSync(fd)
  }
}
