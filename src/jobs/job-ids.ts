// The ids of new jobs. They are reserved several at a time, since most jobs are submitted one by one; a crash skips unused ones.
import type { Log } from '../lib/log'
import { JOB_IDS_RESERVED } from '../model/limits/queue'
import type { JobId } from '../rpc/luxi/calls'

export class JobIds {
  private lastId: JobId = 0
  /** No other luxid gives out ids up to this one: it is in the file `serial`, or being written. */
  private reservedId: JobId = 0
  private reserved: Promise<void> = Promise.resolve()

  /** `write` makes a number durable in the file `serial`. */
  constructor(
    private readonly write: (id: JobId) => Promise<void>,
    private readonly log: Log,
  ) {}

  get last(): JobId {
    return this.lastId
  }

  /** The number for the file `serial`: no other luxid gives out ids up to this one. */
  get serial(): JobId {
    return Math.max(this.reservedId, this.lastId)
  }

  /** What the file `serial` says, here or at a candidate, which knows the ids that are reserved here. */
  recover(id: JobId): void {
    if (id <= this.serial) return
    this.lastId = id
    this.reservedId = id
  }

  /** The promise resolves when no other luxid can give out these ids. */
  take(count: number): Promise<void> {
    this.lastId += count
    if (this.lastId <= this.reservedId) return this.reserved
    this.reservedId = this.lastId + JOB_IDS_RESERVED
    const reserving = this.write(this.reservedId)
    this.reserved = reserving
    reserving.catch(() => {
      if (this.reserved === reserving) this.reservedId = 0
    })
    return reserving
  }

  /** Gives unused ids back. */
  async release(): Promise<void> {
    const skipped = (error: unknown) => this.log.warn({ err: error }, 'some job ids are skipped')
    if (this.reservedId > this.lastId) await this.write(this.lastId).catch(skipped)
  }
}
