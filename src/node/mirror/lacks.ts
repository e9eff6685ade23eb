// What the other side of a mirrored disk lacks, while this side goes on without it: the first write begins a new generation of the data,
// and each write marks its blocks.
import type { Random } from '../../lib/random'
import type { LocalCopy } from './local'
import { withNewGeneration } from './notes'

export class Lacks {
  /** The generation that the first write after the last meeting has begun. */
  private generation: Promise<void> | undefined

  constructor(private readonly random: Random) {}

  /**
   * Runs before anybody is told that these bytes are written, when only this copy has them. On the disk when it resolves. So the other
   * copy counts as older from now on, whatever dies.
   */
  async note(copy: LocalCopy, start: number, end: number): Promise<void> {
    await copy.marks.add(start, end)
    const begun = (this.generation ??= copy.note((notes) => withNewGeneration(notes, this.random.uuid())))
    try {
      await begun
    } catch (error) {
      // The next write tries again: this generation may not be on the disk.
      if (this.generation === begun) this.begin()
      throw error
    }
  }

  /** The two sides have compared their notes, or one has lost its copy: the next write begins a generation of its own. */
  begin(): void {
    this.generation = undefined
  }
}
