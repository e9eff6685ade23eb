// The store's files: config.data, gantry.data and the journal. Reads them after any crash, and writes checkpoints.
import { createHash } from 'node:crypto'
import * as path from 'node:path'
import { breathe, seconds, type Clock } from '../lib/clock'
import type { Appender, Disk } from '../lib/disk'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { quoteForShell } from '../lib/ssh/ssh'
import type { Random } from '../lib/random'
import { quarantine } from '../lib/file/quarantine'
import { SET_ASIDE_MAX } from '../model/limits/daemons'
import type { ConfigData, Documents, GantryData } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { configPieces, encodeConfig, encodeGantry } from './encode'
import { COPY_NOTES, noting } from './copy-notes'
import { forked } from './copy-status'
import { withGantryValue } from './gantry'
import { decodeJournal, encodeMark, replay, replayConfig, sha256, type JournalRecord, type Mark } from './journal'
import { EMPTY_GANTRY, loadConfig, loadGantry, RESTORE_IT } from './upgrade'

export interface StoreOptions {
  readonly disk: Disk
  readonly paths: Pick<Paths, 'configFile' | 'journalFile' | 'gantryFile' | 'root' | 'hostname'>
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  /** The files are right as they are, although the journal or a candidate knows others. A person has said so. */
  readonly takeFiles?: boolean
  /** Called after each write with its duration. */
  readonly wrote?: (kind: WriteKind, duration_s: number) => void
}

export type WriteKind = 'journal' | 'checkpoint' | 'replication'

/** Tells how long the work took, if it succeeds. */
export async function timed({ clock, wrote }: StoreOptions, kind: WriteKind, work: () => Promise<void>): Promise<void> {
  const start_ms = clock.monotonic_ms()
  await work()
  wrote?.(kind, (clock.monotonic_ms() - start_ms) / 1000)
}

/** Writes the files of a new cluster, or of a new candidate. Replaces existing files. */
export async function createConfig(
  { disk, paths }: Pick<StoreOptions, 'disk' | 'paths'>,
  config: ConfigData,
  gantry: GantryData = EMPTY_GANTRY,
): Promise<void> {
  await disk.remove(paths.journalFile, { durable: true })
  await disk.write(paths.gantryFile, encodeGantry(gantry))
  await disk.write(paths.configFile, encodeConfig(config))
}

/** What the two files hold. */
export interface Checkpoint {
  readonly mark: Mark
  readonly gantry: GantryData
}

/** The content of the files including the journal. */
export interface Loaded {
  readonly documents: Documents
  /** The files without the journal. */
  readonly files: Checkpoint
  /** Whether `documents` has more than the two files: journal records or filled gaps. */
  readonly dirty: boolean
  /** The journal's records. They stay in the journal until a checkpoint contains them. */
  readonly records: readonly JournalRecord[]
}

export async function loadFiles(options: StoreOptions): Promise<Loaded> {
  const { disk, paths, random, log } = options
  const text = await disk.read(paths.configFile)
  if (!text) throw new ConfigurationError(`There is no configuration at ${paths.configFile}: ${await whyNone(options)}`)
  const { config, notices } = loadConfig(text.toString('utf8'), random)
  for (const notice of notices) log.warn({ file: paths.configFile }, notice)
  const gantryText = (await disk.read(paths.gantryFile)) ?? Buffer.alloc(0)
  const gantry = gantryText.length === 0 ? EMPTY_GANTRY : loadGantry(gantryText.toString('utf8'))
  const mark: Mark = {
    config: { serial: config.serial_no, sha256: sha256(text) },
    gantry: { serial: gantry.serial_no, sha256: sha256(gantryText) },
  }
  const journal = await readJournal(options, { config, gantry }, mark)
  const files = { mark, gantry }
  const { documents, records } = journal
  if (options.takeFiles === true)
    return { documents: taken(documents, journal.rejected, options), records, files, dirty: true }
  return { documents, records, files, dirty: records.length > 0 || notices.length > 0 }
}

/** A node that never had a configuration has none of its other files. */
async function whyNone({ disk, paths }: StoreOptions): Promise<string> {
  const beside = (await disk.read(paths.journalFile)) ?? (await disk.read(paths.gantryFile))
  return beside === undefined ? 'this node is not the master of a cluster' : RESTORE_IT
}

/** From here on these documents count, whatever serial numbers older copies have. */
function taken(documents: Documents, rejected: string | undefined, { random, clock, paths }: StoreOptions): Documents {
  const serial_no = documents.config.serial_no + 1
  const why = rejected === undefined ? '' : `; ${rejected}`
  const text = `a person has said that the files of the configuration are right as they are${why}`
  let gantry = forked(documents, random.uuid())
  for (const [key, note] of noting(gantry, { time: seconds(clock), node: paths.hostname, text }))
    gantry = withGantryValue(gantry, COPY_NOTES, key, note)
  return { config: { ...documents.config, serial_no }, gantry: { ...gantry, serial_no } }
}

interface ReadJournal extends Pick<Loaded, 'documents' | 'records'> {
  /** Why the journal was set aside, and where it is. */
  readonly rejected?: string
}

async function readJournal(options: StoreOptions, base: Documents, mark: Mark): Promise<ReadJournal> {
  const { disk, paths, log } = options
  const nothing = { documents: base, records: [] }
  const data = await disk.read(paths.journalFile)
  if (!data || data.length === 0) return nothing
  const journal = decodeJournal(data)
  if (journal.marks.length + journal.records.length === 0 && journal.damagedLine === undefined) return nothing
  const replayed = replay(base, { config: mark.config.sha256, gantry: mark.gantry.sha256 }, journal)
  if (typeof replayed === 'string')
    return {
      ...nothing,
      rejected: await rejectJournal(options, `the configuration journal is not used: ${replayed}`),
    }
  if (replayed.applied > 0) log.info({ records: replayed.applied }, 'replayed the configuration journal')
  const read = { documents: replayed.documents, records: journal.records }
  if (journal.damagedLine !== undefined) {
    const reason = `the configuration journal is damaged from line ${journal.damagedLine} on`
    return { ...read, rejected: await rejectJournal(options, reason) }
  }
  if (journal.torn_bytes > 0) log.warn({ bytes: journal.torn_bytes }, 'dropped the unfinished end of the journal')
  return read
}

/**
 * The configuration for a process that only reads the files while another one may write them. Undefined if there is no
 * config.data. Ignores a journal that does not fit: its writer has probably just begun a new one.
 */
export async function readConfig({
  disk,
  paths,
  random,
}: Pick<StoreOptions, 'disk' | 'random'> & {
  readonly paths: Pick<Paths, 'configFile' | 'journalFile'>
}): Promise<ConfigData | undefined> {
  const text = await disk.read(paths.configFile)
  if (!text) return undefined
  const journal = await disk.read(paths.journalFile)
  const { config } = loadConfig(text.toString('utf8'), random)
  if (!journal) return config
  const replayed = replayConfig(config, sha256(text), decodeJournal(journal))
  return typeof replayed === 'string' ? config : replayed.config
}

/** Keeps the journal for a person to look at. Only a person may say that the files are right without it. */
async function rejectJournal({ takeFiles, ...options }: StoreOptions, reason: string): Promise<string> {
  const { disk, paths, log, clock } = options
  if (takeFiles !== true)
    throw new ConfigurationError(
      `${paths.configFile} and ${paths.gantryFile} are not as this program has left them: ${reason}. Restore them, with ` +
        `${paths.journalFile}, from a master candidate or a backup. ${howToTake(paths)}`,
    )
  const kept = await quarantine(paths.journalFile, 'rejected', { disk, clock, most: SET_ASIDE_MAX })
  const reported = `${reason}; it is kept as ${kept}`
  log.error({ journal: kept }, reported)
  return reported
}

/** How a person says that the files are right as they are. */
export function howToTake({ configFile, root, hostname }: StoreOptions['paths']): string {
  const place = root === '' ? '' : `env GANETI_ROOTDIR=${quoteForShell(root)} GANETI_HOSTNAME=${hostname} `
  return `If ${path.dirname(configFile)} is right as it is, run: ${place}gantryd fold --take-file`
}

/** Replaces the journal in one step with a new one, which fits any of the marks and begins with the records. */
export async function startJournal(
  { disk, paths }: StoreOptions,
  marks: readonly Mark[],
  records: readonly Buffer[],
): Promise<Appender> {
  const content = Buffer.concat([...marks.map(encodeMark), ...records])
  await disk.write(paths.journalFile, content)
  return disk.openAppender(paths.journalFile)
}

export interface CheckpointTexts extends Checkpoint {
  readonly configText: Buffer
  /** Undefined if gantry.data has not changed since the last checkpoint. */
  readonly gantryText: Buffer | undefined
}

/** The texts of a snapshot, made in slices to keep the event loop free. */
export async function checkpointTexts(documents: Documents, last: Checkpoint): Promise<CheckpointTexts> {
  const hash = createHash('sha256')
  const pieces: Buffer[] = []
  for (const piece of configPieces(documents.config)) {
    const bytes = Buffer.from(piece)
    hash.update(bytes)
    pieces.push(bytes)
    await breathe()
  }
  const { gantry } = documents
  // Documents never change, so the same object has the same content. Equal serial numbers do not mean equal content.
  const gantryText = gantry === last.gantry ? undefined : Buffer.from(encodeGantry(gantry))
  return {
    configText: Buffer.concat(pieces),
    gantryText,
    gantry,
    mark: {
      config: { serial: documents.config.serial_no, sha256: hash.digest('hex') },
      gantry: gantryText ? { serial: gantry.serial_no, sha256: sha256(gantryText) } : last.mark.gantry,
    },
  }
}

export async function writeCheckpoint({ disk, paths }: StoreOptions, texts: CheckpointTexts): Promise<void> {
  if (texts.gantryText) await disk.write(paths.gantryFile, texts.gantryText)
  await disk.write(paths.configFile, texts.configText)
}
