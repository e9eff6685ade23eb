// Writes config.data and gantry.data as they are, while changes go on: a little after a change, when the journal is
// long, and when somebody asks for it.
import { within, type Timer } from '../lib/clock'
import type { Documents } from '../model/config'
import {
  CHECKPOINT_BYTES_PER_S,
  CHECKPOINT_S,
  CHECKPOINT_SETTLE_BYTES_MAX,
  CHECKPOINT_SETTLE_S,
  CHECKPOINT_SIZE_PER_JOURNAL,
  CONFIG_JOURNAL_BYTES_MAX,
} from '../model/limits/config'
import type { JournalWriter } from './journal-writer'
import { checkpointTexts, timed, writeCheckpoint, type CheckpointTexts, type StoreOptions } from './store-files'

export class Checkpointer {
  /** Bytes of config.data at the last checkpoint. A large one is written less often, and after more changes. */
  private size = 0
  private timer: Timer | undefined
  private running: Promise<void> | undefined
  private isClosed = false

  constructor(
    private readonly options: StoreOptions,
    private readonly journal: JournalWriter,
    /** The documents to write. */
    private readonly documents: () => Documents,
    /** Called with each whole checkpoint. */
    private readonly written: (texts: CheckpointTexts) => void,
  ) {}

  /** Resolves when the files have everything that is durable now. `force`: they are written in any case. */
  async run({ force }: { readonly force: boolean }): Promise<void> {
    while (this.running) await this.running.catch(() => undefined)
    const { unfinished } = this.journal
    if (!force && !this.journal.hasRecords && unfinished === undefined) return
    this.running = timed(this.options, 'checkpoint', () => this.write()).finally(() => (this.running = undefined))
    await this.running
    if (unfinished !== undefined) return this.run({ force })
    if (this.journal.hasRecords) this.plan()
  }

  /** Something was changed. */
  plan(): void {
    if (this.running || this.isClosed) return
    const most = Math.max(CONFIG_JOURNAL_BYTES_MAX, this.size / CHECKPOINT_SIZE_PER_JOURNAL)
    if (this.journal.fileBytes >= most) return void this.background()
    this.later()
  }

  /** Waits only briefly, and does nothing about a large config.data: each job would cost as much as the cluster is large. */
  async settle(): Promise<void> {
    if (this.size > CHECKPOINT_SETTLE_BYTES_MAX) return
    if (this.journal.hasRecords && !this.isClosed)
      await within(this.options.clock, CHECKPOINT_SETTLE_S, this.background())
  }

  /** Waits for one that is being written. None begins by itself any more. */
  async close(): Promise<void> {
    this.isClosed = true
    this.timer?.cancel()
    await this.running?.catch(() => undefined)
  }

  /**
   * One that failed is written again, in the same words, before another begins. So the files hold one of two
   * checkpoints, however often it fails, and the journal names both.
   */
  private async write(): Promise<void> {
    const { options, journal } = this
    const texts = journal.unfinished ?? (await checkpointTexts(this.documents(), journal.checkpoint))
    this.size = texts.configText.length
    // The journal names the new checkpoint before that is written. So it fits whichever file a crash leaves.
    await journal.announce(texts)
    await writeCheckpoint(options, texts)
    await journal.advance(texts)
    this.written(texts)
  }

  private later(): void {
    if (this.isClosed) return
    const pause_s = Math.max(CHECKPOINT_S, this.size / CHECKPOINT_BYTES_PER_S)
    this.timer ??= this.options.clock.after(pause_s * 1000, () => void this.background(), { background: true })
  }

  private async background(): Promise<void> {
    this.timer?.cancel()
    this.timer = undefined
    try {
      await this.run({ force: false })
    } catch (error) {
      this.options.log.error({ err: error }, 'checkpoint failed; changes are kept in the journal')
      this.later()
    }
  }
}
