// The local copy of a mirrored disk: its data, and the notes about it.
import type { FileHandle } from 'node:fs/promises'
import { readAll, writeAll } from '../../lib/file/ranges'
import type { Files } from '../../lib/files'
import type { Run } from '../../lib/programs/run-command'
import { errorText } from '../../lib/system-failure'
import { Mutex } from '../../lib/work/mutex'
import { GenericError } from '../../model/errors'
import { MIRROR_BATCH_BYTES } from '../../model/limits/mirror'
import { PUNCH_HOLE_S } from '../../model/limits/storage'
import { BLOCK } from './blocks'
import { Marks } from './marks'
import { NO_NOTES, type Notes, readNotes, withoutGeneration, writeNotes } from './notes'

/** The parts of the node that a copy needs. */
export interface CopyParts {
  readonly files: Files
  readonly run: Run
}

export interface Backing {
  readonly data: string
  readonly meta: string
}

/** The file with the data does not do what it has to. */
export class CopyFailed extends GenericError {}

export class LocalCopy {
  private readonly turns = new Mutex()
  /** The kernel tells of a failed flush only once. What it dropped then no later flush brings to the disk. */
  private unflushed: CopyFailed | undefined
  /** The number of the notes that were written last. */
  private sequence: number
  private written: Notes

  private constructor(
    readonly files: Backing,
    private readonly run: Run,
    private readonly data: FileHandle,
    private readonly meta: FileHandle,
    private noted: Notes,
    readonly marks: Marks,
  ) {
    this.sequence = noted.sequence
    this.written = noted
  }

  /** A size of 0 means that the size is not known. */
  static async open({ files, run }: CopyParts, backing: Backing, wanted_bytes: number): Promise<LocalCopy> {
    const data = await files.open(backing.data, 'r+')
    const meta = await files.open(backing.meta, 'r+').catch(async (error: unknown) => {
      await data.close()
      throw error
    })
    try {
      const notes = await readNotes(meta)
      if (notes === undefined) throw new GenericError(`${backing.meta} ${NO_NOTES}`)
      const { size } = await data.stat()
      const size_bytes = Math.min(size, wanted_bytes || size)
      if (notes.size_bytes > size_bytes)
        throw new GenericError(
          `the disk has grown to ${notes.size_bytes >> 20} MiB, and is to be used with ${size_bytes >> 20} MiB, which would cut its end off: ` +
            'gnt-instance activate-disks --ignore-size activates it, and gnt-cluster repair-disk-sizes records its size',
        )
      const marks = await Marks.read(meta, size_bytes)
      const copy = new LocalCopy(backing, run, data, meta, notes, marks)
      await copy.note({ size_bytes, primary: false, crashed: notes.crashed || notes.primary })
      return copy
    } catch (error) {
      await data.close()
      await meta.close()
      throw error
    }
  }

  get notes(): Notes {
    return this.noted
  }

  /** The notes are on the disk when this resolves. `this.notes` changes at once, so that a second change does not undo the first. */
  async note(changes: Partial<Notes> | ((notes: Notes) => Notes)): Promise<void> {
    const next = typeof changes === 'function' ? changes(this.noted) : { ...this.noted, ...changes }
    this.noted = next
    await this.writeNotes(next)
  }

  /** Runs before the other side is told of the notes: it must not rely on notes that a crash would take back. */
  async secure(): Promise<void> {
    if (this.written !== this.noted) await this.writeNotes(this.noted)
  }

  private writeNotes(notes: Notes): Promise<void> {
    return this.turns.runExclusive(async () => {
      // Notes that could not be written are written over. Those before them stay, in the other slot.
      const sequence = this.sequence + 1
      await writeNotes(this.meta, { ...notes, sequence })
      this.sequence = sequence
      this.written = notes
    })
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const bytes = await readAll(this.data, length, offset)
    if (bytes.length < length) throw new GenericError(`${this.files.data} ends before ${offset + length} bytes`)
    return bytes
  }

  write = (offset: number, bytes: Buffer): Promise<void> => this.orFailed(writeAll(this.data, bytes, offset))

  /** The range then takes no space, if the file system can do that. Holes stay holes. */
  async writeZeros(offset: number, length: number): Promise<void> {
    if (length <= MIRROR_BATCH_BYTES && (await this.hasZeros(offset, length))) return
    if (await this.punchHole(offset, length)) return
    for (let at = 0; at < length; at += ZEROS.length) {
      const size = Math.min(ZEROS.length, length - at)
      if (!(await this.hasZeros(offset + at, size))) await this.write(offset + at, ZEROS.subarray(0, size))
    }
  }

  /** After a flush that failed, even in an earlier process, the kernel may show what is not on the disk, and no later flush brings it there. */
  private async hasZeros(offset: number, length: number): Promise<boolean> {
    return !this.notes.crashed && this.unflushed === undefined && isZero(await this.read(offset, length))
  }

  /** Runs a program, because Node has no call for this. */
  private async punchHole(offset: number, length: number): Promise<boolean> {
    const range = ['--offset', String(offset), '--length', String(length)]
    // The file that is open, whatever has its name now.
    const file = `/proc/${process.pid}/fd/${this.data.fd}`
    const { code } = await this.run(['fallocate', '--punch-hole', ...range, file], { timeout_s: PUNCH_HOLE_S })
    return code === 0
  }

  async flush(): Promise<void> {
    if (this.unflushed !== undefined) throw this.unflushed
    try {
      await this.orFailed(this.data.datasync())
    } catch (error) {
      if (error instanceof CopyFailed) this.unflushed = error
      throw error
    }
  }

  private async orFailed(work: Promise<void>): Promise<void> {
    try {
      await work
    } catch (error) {
      throw new CopyFailed(`${this.files.data}: ${errorText(error)}`)
    }
  }

  async resize(size_bytes: number): Promise<void> {
    const { size } = await this.data.stat()
    if (size < size_bytes)
      throw new GenericError(`${this.files.data} has less than ${size_bytes >> 20} MiB: it has to grow first`)
    this.marks.grow(size_bytes)
    await this.note({ size_bytes })
  }

  /**
   * The other side goes on without this copy. It may not be used again before it has got what it lacks; if that is not known, before it has
   * got all.
   */
  async leave(): Promise<void> {
    const isFlushed = await this.flush().then(
      () => true,
      () => false,
    )
    await this.note((notes) => ({
      ...(isFlushed ? { ...notes, consistent: false } : withoutGeneration(notes)),
      primary: false,
    }))
  }

  /** The file has failed. Whatever it holds, it gets all data of the other side before it is used again. */
  distrust = (): Promise<void> => this.note((notes) => ({ ...withoutGeneration(notes), primary: false }))

  markAll = (): Promise<void> => this.marks.add(0, Math.max(BLOCK, this.noted.size_bytes))

  async close(): Promise<void> {
    await this.data.close()
    await this.meta.close()
  }
}

const ZEROS = Buffer.alloc(1 << 20)

export function isZero(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += ZEROS.length) {
    const part = bytes.subarray(at, at + ZEROS.length)
    if (part.compare(ZEROS, 0, part.length) !== 0) return false
  }
  return true
}
