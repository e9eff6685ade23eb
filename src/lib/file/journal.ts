// Makes new contents of many small files durable with one append, instead of one write for each: the journal. The files
// are written later, each once with its last content. A line is a CRC-32 in hexadecimal, a space, and JSON: file names
// below the journal's folder with contents. Incomplete lines were never acknowledged and are skipped.
import * as path from 'node:path'
import { crc32 } from 'node:zlib'
import { eachBounded } from '../work/bounded'
import type { Clock } from '../clock'
import { type Disk, isMissing } from '../disk'
import { Mutex } from '../work/mutex'
import { UnsettledAppend } from './unsettled-append'

export type FileContent = readonly [file: string, content: string]

export interface FileJournalOptions {
  disk: Disk
  /** The journal. The files are below its folder. */
  file: string
  /** False while another process folds (writes the files from) the journal. */
  isOurs?(): boolean
  /** Whether to write this content to a file: false if the file is newer. */
  isNews?(file: string, content: string): Promise<boolean>
  /** For an owner that answers for what it refuses: nobody gets an answer while the disk cannot take a record back. */
  settling?: { readonly clock: Pick<Clock, 'sleep'>; isOver(): boolean }
}

const WRITTEN_AT_ONCE = 20
/** Seconds between two attempts to take a record back. */
const TAKE_BACK_S = 1

export class FileJournal {
  private readonly turns = new Mutex()
  /** The part of the journal that is being written to the files now. */
  private readonly old: string
  private mayHaveOld = true
  /** False for a journal of another process: its name may not be durable. */
  private isBegun = false
  private writing: Promise<void> = Promise.resolve()

  constructor(private readonly options: FileJournalOptions) {
    this.old = `${options.file}.old`
  }

  /**
   * It is durable when the promise resolves; when it rejects, nothing was appended. `check` runs when it is this call's
   * turn, and throws to refuse it.
   */
  append(files: readonly FileContent[], check: () => void = () => undefined): Promise<void> {
    const { disk, file } = this.options
    const line = encode(files.map(([name, content]) => [path.relative(path.dirname(file), name), content]))
    return this.turns.runExclusive(async () => {
      check()
      if (!this.isBegun) await this.rotate()
      this.isBegun = true
      await disk.append(file, line).catch(async (error: unknown) => {
        if (!(error instanceof UnsettledAppend)) throw error
        await this.takeBack(line, error)
        throw error.cause
      })
    })
  }

  /** Writes the journal anew without the line. Part of a line does no harm. */
  private async takeBack(line: Buffer, unsettled: UnsettledAppend): Promise<void> {
    const { disk, file, settling } = this.options
    for (;;)
      try {
        const data = (await disk.read(file)) ?? Buffer.alloc(0)
        const at = data.lastIndexOf(line)
        return await disk.write(file, at < 0 ? data : data.subarray(0, at))
      } catch {
        if (settling === undefined || settling.isOver()) throw unsettled
        await settling.clock.sleep(TAKE_BACK_S * 1000)
      }
  }

  /** Resolves when the files have everything that was appended before. */
  async fold(): Promise<void> {
    await this.turns.runExclusive(() => this.rotate())
    await this.writing
  }

  /** Works on the files while they have all our content, before anything else is appended. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.turns.runExclusive(async () => {
      await this.rotate()
      await this.writing
      return work()
    })
  }

  /** The last content of each file that may still lack it. */
  async contents(): Promise<Map<string, string>> {
    const { disk, file } = this.options
    const [older, newer] = [await disk.read(this.old), await disk.read(file)]
    return new Map([...this.decode(older), ...this.decode(newer)])
  }

  /** Begins a new journal for later appends, while the old one is written to the files. */
  private async rotate(): Promise<void> {
    if (this.options.isOurs?.() === false) return
    await this.writing.catch(() => undefined)
    if (this.mayHaveOld) await (this.writing = this.writeOld())
    // A rename that fails may have happened.
    this.mayHaveOld = true
    try {
      await this.options.disk.rename(this.options.file, this.old)
    } catch (error) {
      if (!isMissing(error)) throw error
      this.mayHaveOld = false
      return
    }
    this.writing = this.writeOld()
    this.writing.catch(() => undefined)
  }

  private async writeOld(): Promise<void> {
    this.mayHaveOld = true
    const { disk, isOurs, isNews } = this.options
    const data = await disk.read(this.old)
    await eachBounded(this.decode(data), WRITTEN_AT_ONCE, async ([file, content]) => {
      if (isOurs?.() === false) throw new Error(`${this.old} is another process's now`)
      if ((await isNews?.(file, content)) !== false) await disk.write(file, content)
    })
    if (data !== undefined) await disk.remove(this.old, { durable: true })
    this.mayHaveOld = false
  }

  private decode(data: Buffer | undefined): Map<string, string> {
    const folder = path.dirname(this.options.file)
    const contents = journalContents(data?.toString('utf8') ?? '')
    return new Map([...contents].map(([name, content]) => [`${folder}/${name}`, content]))
  }
}

/** The last content of each file, by its name. */
export const journalContents = (text: string): Map<string, string> => new Map(text.split('\n').flatMap(decodeLine))

/** The leading newline ends what a killed writer may have left. */
function encode(files: readonly FileContent[]): Buffer {
  const text = JSON.stringify(files)
  return Buffer.from(`\n${checksum(text)} ${text}\n`)
}

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, '0')

function decodeLine(line: string): readonly FileContent[] {
  const text = line.slice(9)
  if (line.length < 10 || line.slice(0, 9) !== `${checksum(text)} `) return []
  // The checksum proves that `encode` wrote this.
  return JSON.parse(text) as FileContent[]
}
