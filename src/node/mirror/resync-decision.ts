// Decides from the notes of both sides which has the newer data. Pure: both sides come to the same result.
//
// Each state of the data that one side reached without the other has a generation. A side that writes alone first gets a new generation,
// and notes at which one the other side was left behind (`base`). So a side whose generation is the other's base was only left behind,
// and gets what the other has written since. If both have written alone, neither is newer.

export interface Generations {
  /** Empty if nobody has written yet. */
  readonly current: string
  /** The generation at which the other side was left behind. Empty if the other side has all data that this one has. */
  readonly base: string
  /** Earlier generations, the newest first. */
  readonly history: readonly string[]
}

export interface Side extends Generations {
  /** False as long as this side never had all data, and while the other side's data is being copied over it. */
  readonly consistent: boolean
  readonly primary: boolean
  /** The process died while the disk was open for writing. The last writes may be on one side only. */
  readonly crashed: boolean
  /** Both sides may write. */
  readonly dual: boolean
  /** A tie-breaker: the smaller value wins. */
  readonly address: string
}

export type ResyncDecision =
  | { readonly kind: 'same' }
  /** `all`: copy all blocks, not only the marked ones. */
  | { readonly kind: 'source' | 'target'; readonly all: boolean }
  | { readonly kind: 'refused'; readonly why: string }

export function decideResync(mine: Side, theirs: Side): ResyncDecision {
  const verdict = compare(mine, theirs)
  if (verdict.kind === 'refused') return verdict
  if (verdict.kind === 'same')
    return mine.primary && theirs.primary && !(mine.dual && theirs.dual) ? refused('both nodes write to it') : verdict
  const [source, target] = verdict.kind === 'source' ? [mine, theirs] : [theirs, mine]
  // If the target never wrote, all that its guest has read came from the other side. So the guest has not seen older data.
  if (target.primary && target.current !== '') return refused('the node that writes to it has the older data')
  return source.consistent ? verdict : refused('the newer data is not complete')
}

function compare(mine: Side, theirs: Side): ResyncDecision {
  if (mine.current === '' || theirs.current === '') {
    if (mine.current === theirs.current) return { kind: 'same' }
    return { kind: mine.current === '' ? 'target' : 'source', all: true }
  }
  if (mine.current === theirs.current) return equals(mine, theirs)
  // A power failure also loses writes that were not yet flushed, and nobody noted their blocks.
  const all = mine.crashed || theirs.crashed
  if (theirs.base === mine.current) return { kind: 'target', all }
  if (mine.base === theirs.current) return { kind: 'source', all }
  if (theirs.history.includes(mine.current)) return { kind: 'target', all: true }
  if (mine.history.includes(theirs.current)) return { kind: 'source', all: true }
  const related = [mine.base, ...mine.history].some(
    (one) => one !== '' && [theirs.base, ...theirs.history].includes(one),
  )
  return refused(
    related
      ? 'split brain: both nodes have written to the disk while they were apart'
      : 'the data of the two nodes is unrelated',
  )
}

/** Both sides have the same generation. They can differ only if one died during a write, or if copying was interrupted. */
function equals(mine: Side, theirs: Side): ResyncDecision {
  if (mine.consistent !== theirs.consistent) return { kind: mine.consistent ? 'source' : 'target', all: true }
  if (!mine.crashed && !theirs.crashed) return { kind: 'same' }
  if (mine.primary && theirs.primary) return refused('both nodes write to it')
  if (mine.primary !== theirs.primary) return { kind: mine.primary ? 'source' : 'target', all: true }
  if (mine.crashed !== theirs.crashed) return { kind: mine.crashed ? 'source' : 'target', all: true }
  return { kind: mine.address < theirs.address ? 'source' : 'target', all: true }
}

const refused = (why: string): ResyncDecision => ({ kind: 'refused', why })
