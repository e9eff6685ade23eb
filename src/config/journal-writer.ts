// Writes the journal. A record is in it when `append` resolves, and not in it, also after a power cut, when `append`
// rejects. The journal names every checkpoint that the two files may hold, so it fits whichever a crash leaves.
import type { Appender } from '../lib/disk'
import { UnsettledAppend } from '../lib/file/unsettled-append'
import { errorText } from '../lib/system-failure'
import { Mutex } from '../lib/work/mutex'
import { JOURNAL_RETRY_S } from '../model/limits/config'
import { encodeMark } from './journal'
import { startJournal, type Checkpoint, type CheckpointTexts, type Loaded, type StoreOptions } from './store-files'

export class JournalWriter {
  private journal: Appender | undefined
  /** The last whole checkpoint. */
  private written: Checkpoint
  /** A checkpoint that is being written, or failed: any part of it may be in the files. */
  private coming: CheckpointTexts | undefined
  /** The records since the last checkpoint. */
  private records: { readonly to: number; readonly data: Buffer }[]
  private readonly turns = new Mutex()
  private unknown: string | undefined
  private isClosing = false

  constructor(
    private readonly options: StoreOptions,
    { files, records }: Pick<Loaded, 'files' | 'records'>,
  ) {
    this.written = files
    this.records = records.map(({ delta, data }) => ({ to: delta.to, data }))
  }

  get checkpoint(): Checkpoint {
    return this.written
  }

  /** A checkpoint that was begun and is not whole. */
  get unfinished(): CheckpointTexts | undefined {
    return this.coming
  }

  /** Why nobody knows yet whether the last record is in the journal. */
  get unsettled(): string | undefined {
    return this.unknown
  }

  get hasRecords(): boolean {
    return this.records.length > 0
  }

  /** Bytes of the records. */
  get recordBytes(): number {
    return this.records.reduce((sum, { data }) => sum + data.length, 0)
  }

  get fileBytes(): number {
    return this.journal?.size() ?? 0
  }

  begin(): Promise<void> {
    return this.turns.runExclusive(() => this.renew())
  }

  append(data: Buffer, to: number): Promise<void> {
    return this.turns.runExclusive(async () => {
      const journal = this.journal ?? (await this.started())
      try {
        await journal.append(data)
      } catch (error) {
        // The next writer starts a new journal.
        await this.drop()
        if (!(error instanceof UnsettledAppend)) throw error
        await this.takeBack(error)
        throw error.cause
      }
      this.records.push({ to, data })
    })
  }

  /** Names a checkpoint before it is written. */
  announce(texts: CheckpointTexts): Promise<void> {
    this.coming = texts
    return this.turns.runExclusive(async () => {
      if (this.journal) await this.journal.append(encodeMark(texts.mark)).catch(() => this.drop())
      if (this.journal === undefined) await this.renew()
    })
  }

  /** The announced checkpoint is whole: the journal begins anew with the records that it lacks. */
  advance(texts: CheckpointTexts): Promise<void> {
    return this.turns.runExclusive(async () => {
      this.written = texts
      this.coming = undefined
      this.records = this.records.filter((record) => record.to > texts.mark.config.serial)
      await this.renew()
    })
  }

  /** From now on nothing waits for the disk to come back. */
  hurry(): void {
    this.isClosing = true
  }

  close(remove: boolean): Promise<void> {
    return this.turns.runExclusive(async () => {
      await this.drop()
      if (remove) await this.options.disk.remove(this.options.paths.journalFile, { durable: true })
    })
  }

  /**
   * The record may be in the journal, and a later run would apply it. So it is refused only when a journal without it
   * is there. While the disk does not take one, nobody gets an answer.
   */
  private async takeBack(error: UnsettledAppend): Promise<void> {
    const { clock, log } = this.options
    this.unknown = errorText(error.cause)
    log.error({ err: error }, 'a change waits until the journal can be written without it')
    while (this.unknown !== undefined && !this.isClosing)
      try {
        await this.renew()
        this.unknown = undefined
      } catch {
        await clock.sleep(JOURNAL_RETRY_S * 1000)
      }
  }

  private async renew(): Promise<void> {
    await this.drop()
    await this.started()
  }

  private async started(): Promise<Appender> {
    const marks = [this.written.mark, ...(this.coming ? [this.coming.mark] : [])]
    const records = this.records.map(({ data }) => data)
    return (this.journal = await startJournal(this.options, marks, records))
  }

  private async drop(): Promise<void> {
    const dropped = this.journal
    this.journal = undefined
    await dropped?.close().catch(() => undefined)
  }
}
