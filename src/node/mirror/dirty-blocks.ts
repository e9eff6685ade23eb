// What the other side of a mirrored disk lacks. While this side goes on without it, the first write begins a new generation of the data, and
// each write marks its blocks. What both sides have, but perhaps not yet on their disks, is known here, too: when the other side is lost, or
// cannot flush, it counts as lacking.
import type { Random } from '../../lib/random'
import { Blocks } from './blocks'
import type { LocalCopy } from './local'
import { withNewGeneration } from './notes'

export class DirtyBlocks {
  /** The generation that the first write after the last meeting has begun. */
  private generation: Promise<void> | undefined
  /** Written on both sides since the last flush. Only in memory: if a node dies while it writes, all blocks are copied. */
  private unflushed = new Blocks()

  constructor(private readonly random: Random) {}

  /**
   * Runs before anybody is told that these bytes are written, when only this copy has them, and when it is not sure what the other copy has
   * on its disk. The notes are on the disk when it resolves. So the other copy counts as older from now on, whatever dies.
   */
  async note(copy: LocalCopy, start = 0, end = 0): Promise<void> {
    const unsure = this.takeUnflushed()
    const begun = (this.generation ??= copy.note((notes) => withNewGeneration(notes, this.random.uuid())))
    try {
      await Promise.all([copy.marks.add(start, end, unsure), begun])
    } catch (error) {
      this.unflushed.addAll(unsure)
      // The next write tries again: this generation may not be on the disk.
      if (this.generation === begun) this.begin()
      throw error
    }
  }

  /** The two sides have compared their notes, or one has lost its copy: the next write begins a generation of its own. */
  begin(): void {
    this.generation = undefined
  }

  /** Both sides have it. */
  written(start: number, end: number): void {
    this.unflushed.add(start, end)
  }

  /** This node does not write any more, and has noted what is not sure. */
  forget(): void {
    this.unflushed = new Blocks()
  }

  get isUnsure(): boolean {
    return this.unflushed.count > 0
  }

  /** A flush answers whether both copies have on their disks what was written before it began. */
  async flushed(flush: () => Promise<boolean>): Promise<void> {
    const taken = this.takeUnflushed()
    let isSure = false
    try {
      isSure = await flush()
    } finally {
      if (!isSure) this.unflushed.addAll(taken)
    }
  }

  private takeUnflushed(): Blocks {
    const taken = this.unflushed
    if (taken.count > 0) this.unflushed = new Blocks()
    return taken
  }
}
