// The journal's format, without IO. A line is a record: a CRC-32 in hexadecimal, a space, JSON, a newline. A mark names
// checkpoints, on which the following deltas can be applied, by the serial number and sha256 of both files. The
// existing file decides which of several marks counts. So a mark's position does not matter, and a crash between two
// files is harmless.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { ConfigData, Documents } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { applyToConfig, applyToGantry, encodeDelta, type Delta } from './delta'

interface FileMark {
  readonly serial: number
  readonly sha256: string
}

export interface Mark {
  readonly config: FileMark
  readonly gantry: FileMark
}

export interface JournalRecord {
  readonly delta: Delta
  /** The whole line, as it is in the file. */
  readonly data: Buffer
}

export interface Journal {
  readonly marks: readonly Mark[]
  readonly records: readonly JournalRecord[]
  /** Bytes of an unfinished last record, which was never acknowledged. */
  readonly torn_bytes: number
  /**
   * The number of the first bad line that good ones follow, which means damage, not a crash. We do not read from there
   * on.
   */
  readonly damagedLine?: number
}

export const encodeMark = (mark: Mark): Buffer => line(JSON.stringify({ mark }))
export const encodeRecord = (delta: Delta): Buffer => line(encodeDelta(delta))

export const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')

export function decodeJournal(data: Buffer): Journal {
  const marks: Mark[] = []
  const records: JournalRecord[] = []
  let start = 0
  for (let number = 1; start < data.length; number++) {
    const end = data.indexOf(0x0a, start)
    const record = end === -1 ? undefined : decodeLine(data.subarray(start, end))
    if (record === undefined) {
      const rest = { marks, records, torn_bytes: data.length - start }
      return end !== -1 && hasGoodLine(data.subarray(end + 1)) ? { ...rest, damagedLine: number } : rest
    }
    if ('mark' in record) marks.push(record.mark)
    else records.push({ delta: record, data: data.subarray(start, end + 1) })
    start = end + 1
  }
  return { marks, records, torn_bytes: 0 }
}

/** Records as sent to a candidate: only whole lines. */
export function decodeRecords(lines: Buffer): Delta[] {
  const { marks, records, torn_bytes } = decodeJournal(lines)
  if (torn_bytes > 0 || marks.length > 0) throw new ConfigurationError('Not records of the configuration journal')
  return records.map(({ delta }) => delta)
}

export interface Replayed {
  readonly documents: Documents
  /** How many records were applied. */
  readonly applied: number
}

/**
 * Applies the journal to the documents. `base` is the content of the two files, `hashes` their sha256. If the journal
 * does not belong to these files, returns the reason as a text.
 */
export function replay(
  base: Documents,
  hashes: { config: string; gantry: string },
  journal: Journal,
): Replayed | string {
  const replayed = replayConfig(base.config, hashes.config, journal)
  if (typeof replayed === 'string') return replayed
  const gantryMark = journal.marks.findLast((mark) => mark.gantry.sha256 === hashes.gantry)?.gantry
  if (!gantryMark) return 'it belongs to another gantry.data'
  let { gantry } = base
  for (const { delta } of journal.records)
    if (delta.gantry && delta.gantry.serial_no > gantryMark.serial) gantry = applyToGantry(gantry, delta)
  return { documents: { config: replayed.config, gantry }, applied: replayed.applied }
}

/** The same for config.data alone, for readers that may not read gantry.data. */
export function replayConfig(
  base: ConfigData,
  hash: string,
  journal: Journal,
): { readonly config: ConfigData; readonly applied: number } | string {
  const mark = journal.marks.findLast(({ config }) => config.sha256 === hash)?.config
  if (!mark) return 'it belongs to another config.data'
  let config = base
  let applied = 0
  for (const { delta } of journal.records) {
    if (delta.to <= mark.serial) continue
    if (delta.from !== config.serial_no)
      return `its record ${delta.from} to ${delta.to} does not follow serial ${config.serial_no}`
    config = applyToConfig(config, delta)
    applied++
  }
  return { config, applied }
}

function line(text: string): Buffer {
  const body = Buffer.from(text)
  const head = Buffer.from(`${checksum(body)} `)
  return Buffer.concat([head, body, Buffer.from('\n')])
}

const checksum = (body: Buffer): string => crc32(body).toString(16).padStart(8, '0')

function decodeLine(data: Buffer): { mark: Mark } | Delta | undefined {
  const body = data.subarray(9)
  if (data.length < 10 || data.toString('latin1', 0, 9) !== `${checksum(body)} `) return undefined
  // The checksum proves that `line` wrote this.
  return JSON.parse(body.toString('utf8')) as { mark: Mark } | Delta
}

function hasGoodLine(data: Buffer): boolean {
  for (let start = 0; start < data.length;) {
    const end = data.indexOf(0x0a, start)
    if (end === -1) return false
    if (decodeLine(data.subarray(start, end)) !== undefined) return true
    start = end + 1
  }
  return false
}
