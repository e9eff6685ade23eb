// The only place where the configuration lives and changes. A change is applied to the snapshot in memory, made durable
// by appending its delta to the journal (changes that arrive during one write go out with the next), and copied to the
// candidates. Only then readers see it and it is acknowledged. A checkpoint writes config.data a little later.
import { seconds } from '../lib/clock'
import { isObject } from '../lib/shapes/shape'
import { isFull } from '../lib/disk'
import type { ConfigData, Documents, GantryData } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { GROUP_COMMIT_CHANGES_MAX, PENDING_CHANGES_MAX } from '../model/limits/config'
import { applyChange, type NamedChange } from './changes'
import { applyDelta, type Asker, diff, type Delta, type Receipt } from './delta'
import { encodeConfig, encodeGantry } from './encode'
import { Checkpointer } from './checkpointer'
import { decodeRecords, encodeRecord } from './journal'
import { JournalWriter } from './journal-writer'
import { loadFiles, timed, type Loaded, type StoreOptions } from './store-files'
import { loadConfig, loadGantry } from './upgrade'

export type { StoreOptions } from './store-files'
export type { NamedChange } from './changes'
export type { Delta } from './delta'

/**
 * Copies data to the candidates. Changes wait for their 'journal' record to be copied. A 'checkpoint' is the text of
 * config.data, for candidates without a journal; nothing waits for it. A failure is logged and fails no change.
 */
export type Replicate = (data: Buffer, kind: 'journal' | 'checkpoint') => Promise<void>

/** Called after each durable step: the delta, and the documents after it. */
export type Listener = (delta: Delta, documents: Documents) => void

/** Reads the files, replays the journal, and folds it, so that every start begins with plain files. */
export async function openStore(options: StoreOptions): Promise<ConfigStore> {
  const loaded = await loadFiles(options)
  const store = new ConfigStore(options, loaded)
  await store.begin(loaded.dirty)
  return store
}

interface Pending {
  readonly after: Documents
  readonly asker: Asker | undefined
  readonly receipt: Receipt | undefined
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** The next run reads from the journal whether the change happened. */
export class ChangeUnsettled extends ConfigurationError {}

export class ConfigStore {
  /** The documents with all changes, including those that are not durable yet. The next change is applied to this. */
  private head: Documents
  /** The documents with all durable changes. */
  private durable: Documents
  /** The documents with all durable and copied changes, which readers see. */
  private published: Documents
  private pending: Pending[] = []
  private committing: Promise<void> | undefined
  private readonly listeners = new Set<Listener>()
  private readonly replicas = new Set<Replicate>()
  private readonly journal: JournalWriter
  private readonly checkpointer: Checkpointer
  private isCopyWritten = true
  private closed = false
  /** The receipts in the journal that the last run left. */
  readonly receipts: readonly Receipt[]

  constructor(
    private readonly options: StoreOptions,
    loaded: Loaded,
  ) {
    this.head = this.durable = this.published = loaded.documents
    this.receipts = loaded.records.flatMap(({ delta }) => delta.receipts ?? [])
    this.journal = new JournalWriter(options, loaded)
    this.checkpointer = new Checkpointer(
      options,
      this.journal,
      () => this.published,
      ({ configText }) => void this.replicate(configText, 'checkpoint'),
    )
  }

  /** Without room the files stay as they are, which is right, and only changes are refused. */
  async begin(dirty: boolean): Promise<void> {
    try {
      if (dirty) await this.checkpoint({ force: true })
      else await this.journal.begin()
    } catch (error) {
      if (!isFull(error)) throw error
      this.options.log.error({ err: error }, 'the configuration can only be read until there is room')
      if (dirty) this.checkpointer.plan()
    }
  }

  current(): ConfigData {
    return this.published.config
  }

  gantry(): GantryData {
    return this.published.gantry
  }

  documents(): Documents {
    return this.published
  }

  /**
   * Applies all changes or none, in order. Resolves with each change's result when they are durable. Listeners learn
   * the `asker`. With a `receipt`, the journal tells that the change was made.
   */
  change(list: readonly NamedChange[], asker?: Asker, receipt?: { owner: string; id: string }): Promise<unknown[]> {
    if (this.closed) return Promise.reject(new ConfigurationError('The configuration store is closed'))
    if (this.journal.unsettled !== undefined)
      return Promise.reject(
        new ConfigurationError(
          `${this.options.paths.journalFile} cannot be written (${this.journal.unsettled}); repair the disk, and try again`,
        ),
      )
    if (this.pending.length >= PENDING_CHANGES_MAX)
      return Promise.reject(
        new ConfigurationError(
          `${this.pending.length} configuration changes wait for the disk already; try again later`,
        ),
      )
    const context = { now_s: seconds(this.options.clock), random: this.options.random }
    const results: unknown[] = []
    let after = this.head
    try {
      for (const named of list) {
        const step = applyChange(after, named, context)
        after = step.documents
        results.push(step.result)
      }
    } catch (error) {
      return Promise.reject(error instanceof Error ? error : new Error(String(error)))
    }
    // Changed objects can be read again.
    const short = () => results.map((result) => (isObject(result) ? null : result))
    return this.enqueue(after, asker, receipt && [receipt.owner, receipt.id, short()]).then(() => results)
  }

  /**
   * On a candidate: takes records from the master. Skips known ones. A record that does not follow the last one asks
   * for a full copy.
   */
  async follow(records: Buffer): Promise<void> {
    if (!this.isCopyWritten)
      throw new ConfigurationError('The last full copy could not be written: send a full copy again')
    let after = this.head
    for (const delta of decodeRecords(records)) {
      const serial = after.config.serial_no
      if (delta.to <= serial) continue
      if (delta.from !== serial)
        throw new ConfigurationError(
          `The record ${delta.from} to ${delta.to} does not follow serial ${serial}: send a full copy`,
        )
      after = applyDelta(after, delta)
    }
    await this.enqueue(after)
  }

  /**
   * On a candidate: replaces everything by a full copy from the master. No record leads there: the histories may differ
   * under equal serial numbers.
   */
  async replace(configText: string, gantryText: string): Promise<void> {
    const { config } = loadConfig(configText, this.options.random)
    const documents = { config, gantry: loadGantry(gantryText) }
    await this.committing
    // Records of the former content must not follow the new one.
    await this.checkpoint()
    const delta = diff(this.published, documents)
    this.head = this.durable = this.published = documents
    this.isCopyWritten = false
    this.tell(delta, documents)
    await this.checkpoint({ force: true })
    this.isCopyWritten = true
  }

  /** Both documents as texts, for a full copy to a candidate, with the record that is being copied now. */
  texts(): { config: string; gantry: string } {
    const { config, gantry } = this.durable
    return { config: encodeConfig(config), gantry: encodeGantry(gantry) }
  }

  subscribe(listener: Listener): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  addReplica(replicate: Replicate): () => void {
    this.replicas.add(replicate)
    return () => this.replicas.delete(replicate)
  }

  /** Waits for running work. `fold`: leaves plain files and no journal. */
  async close(fold: boolean): Promise<void> {
    this.closed = true
    this.journal.hurry()
    await this.committing
    await this.checkpointer.close()
    if (fold) await this.checkpointer.run({ force: false })
    await this.journal.close(fold)
  }

  private enqueue(after: Documents, asker?: Asker, receipt?: Receipt): Promise<void> {
    this.head = after
    return new Promise((resolve, reject) => {
      this.pending.push({ after, asker, receipt, resolve, reject })
      this.committing ??= this.commitAll().finally(() => (this.committing = undefined))
    })
  }

  private async commitAll(): Promise<void> {
    while (this.pending.length > 0) {
      // So that changes that one caller makes without waiting are all written together.
      await Promise.resolve()
      const batch = this.pending.splice(0, GROUP_COMMIT_CHANGES_MAX)
      const after = batch.at(-1)?.after ?? this.published
      try {
        const receipts = batch.flatMap(({ receipt }) => (receipt === undefined ? [] : [receipt]))
        await this.commit(after, [...new Set(batch.flatMap(({ asker }) => asker ?? []))], receipts)
        for (const change of batch) change.resolve()
      } catch (error) {
        this.rollBack(batch, error)
      }
    }
  }

  private async commit(after: Documents, askers: readonly Asker[], receipts: readonly Receipt[]): Promise<void> {
    if (after === this.published) return
    const delta = diff(this.published, after)
    const data = encodeRecord(receipts.length === 0 ? delta : { ...delta, receipts })
    await timed(this.options, 'journal', () => this.journal.append(data, delta.to))
    this.durable = after
    await timed(this.options, 'replication', () => this.replicate(data, 'journal'))
    this.published = after
    this.tell(askers.length === 0 ? delta : { ...delta, askers }, after)
    this.checkpointer.plan()
  }

  /** The step is already durable, so a failing listener does not undo it. */
  private tell(delta: Delta, after: Documents): void {
    for (const listener of this.listeners)
      try {
        listener(delta, after)
      } catch (error) {
        this.options.log.error({ err: error }, 'a follower of the configuration failed')
      }
  }

  /** A change that could not be written never happened, nor did the changes based on it. */
  private rollBack(batch: readonly Pending[], cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause)
    this.options.log.error({ err: cause }, 'configuration change not written')
    const file = this.options.paths.journalFile
    const error =
      this.journal.unsettled === undefined
        ? new ConfigurationError(
            `The change could not be written to ${file} (${reason}) and did not happen; ` +
              `make room or repair the disk, and try again`,
          )
        : new ChangeUnsettled(`It is not known whether the change happened: ${file} cannot be written (${reason})`)
    const lost = [...batch, ...this.pending.splice(0)]
    this.head = this.published
    for (const change of lost) change.reject(error)
  }

  private async replicate(data: Buffer, kind: 'journal' | 'checkpoint'): Promise<void> {
    const failed = (error: unknown) => this.options.log.error({ err: error, kind }, 'replication failed')
    await Promise.all([...this.replicas].map((replicate) => replicate(data, kind).catch(failed)))
  }

  /** Updates config.data, but waits only briefly. */
  settle(): Promise<void> {
    return this.checkpointer.settle()
  }

  /** Writes config.data as it is now, while changes go on. */
  checkpoint({ force = false }: { readonly force?: boolean } = {}): Promise<void> {
    return this.checkpointer.run({ force })
  }

  /** Bytes of the journal's records. */
  get journalSize(): number {
    return this.journal.recordBytes
  }
}
