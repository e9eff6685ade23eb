// The blocks that the other side lacks, as they are in the file with the notes. A mark is on the disk before anybody is told that the block
// is written. It stays there until the other side has noted that it has all data.
import type { FileHandle } from 'node:fs/promises'
import { readAll, writeAll } from '../../lib/file/ranges'
import { Mutex } from '../../lib/work/mutex'
import { BLOCK, Blocks, bytesFor, firstOf, lastOf } from './blocks'
import { MARKS_AT } from './notes'

export class Marks {
  private readonly turns = new Mutex()
  /** Bytes of the set that the file does not have yet. */
  private unwritten: { readonly from: number; readonly to: number } | undefined
  /** What was copied to the other side, and is perhaps not on its disk yet. */
  private readonly copied = new Blocks()

  private constructor(
    private readonly handle: FileHandle,
    private readonly noted: Blocks,
  ) {}

  static async read(handle: FileHandle, size_bytes: number): Promise<Marks> {
    const length = bytesFor(size_bytes)
    // If the file is shorter, it has no marks there.
    return new Marks(handle, new Blocks(Buffer.concat([await readAll(handle, length, MARKS_AT)], length)))
  }

  /** How many blocks are to be copied. */
  get count(): number {
    return this.noted.count - this.copied.count
  }

  has = (block: number): boolean => this.noted.has(block) && !this.copied.has(block)

  /** The marks are on the disk when this resolves, also if somebody else has just set them. */
  async add(start: number, end: number, others?: Blocks): Promise<void> {
    const before = this.noted.count
    this.noted.add(start, end)
    this.copied.remove(start, end)
    if (this.noted.count > before) this.change(firstOf(start) >> 3, (lastOf(end) >> 3) + 1)
    if (others !== undefined && others.count > 0) {
      this.noted.addAll(others)
      this.copied.clear()
      this.change(0, this.noted.bytes.length)
    }
    await this.write()
  }

  /**
   * The other side is being synchronized, and these bytes are written. It lacks them until it has written them itself. Returns whether it has
   * a block of them already; others come to it with the block.
   */
  async pass(start: number, end: number): Promise<boolean> {
    let isCopied = false
    for (let block = firstOf(start); block <= lastOf(end); block++) {
      if (this.has(block)) continue
      isCopied = true
      if (this.noted.has(block)) continue
      this.noted.add(block * BLOCK, (block + 1) * BLOCK)
      this.drop(block)
      this.change(block >> 3, (block >> 3) + 1)
    }
    await this.write()
    return isCopied
  }

  /** In memory only, since the other side may not have it on its disk. */
  drop(block: number): void {
    if (!this.noted.has(block)) return
    this.copied.reach(this.noted.bytes.length * 8 * BLOCK)
    this.copied.put(block)
  }

  /** Copying begins from the start. */
  again(): void {
    this.copied.clear()
  }

  async clear(): Promise<void> {
    this.noted.clear()
    this.copied.clear()
    this.change(0, this.noted.bytes.length)
    await this.write()
  }

  /** Nobody has written the new blocks, so they are alike on both sides. */
  grow(size_bytes: number): void {
    this.noted.reach(size_bytes)
  }

  private change(from: number, to: number): void {
    const { unwritten } = this
    this.unwritten = { from: Math.min(from, unwritten?.from ?? from), to: Math.max(to, unwritten?.to ?? to) }
  }

  /** What changes while one writes is written by the next, all at once. */
  private write(): Promise<void> {
    return this.turns.runExclusive(async () => {
      const { unwritten } = this
      if (unwritten === undefined) return
      const { from, to } = unwritten
      this.unwritten = undefined
      try {
        await writeAll(this.handle, this.noted.bytes.subarray(from, to), MARKS_AT + from)
        await this.handle.datasync()
      } catch (error) {
        this.change(from, to)
        throw error
      }
    })
  }
}
