// Which of two sides has the newer data, from what both have noted. Pure, and the same seen from either side.
//
// Each state of the data that one side reached without the other has a generation. A side that writes alone gets a new one first, and
// notes which one the other was left with (`base`). So a side whose generation is another's base was only left behind, and gets what the
// other has written since. Where both have written alone, neither is newer.

export interface Generations {
  /** Empty where nobody has written yet. */
  readonly current: string
  /** What the other side was left with; empty where that has all that this one has. */
  readonly base: string
  /** Those before, the newest first. */
  readonly history: readonly string[]
}

export interface Side extends Generations {
  /** False while the other side's data is being written over this one's, and as long as it never had any. */
  readonly consistent: boolean
  readonly primary: boolean
  /** It was written to when its process died: what was under way may be on one side only. */
  readonly crashed: boolean
  /** Both sides may be written to. */
  readonly dual: boolean
  /** Decides where nothing else does: of two, one is less. */
  readonly address: string
}

export type Verdict =
  | { readonly kind: 'same' }
  /** All blocks, or those that were noted. */
  | { readonly kind: 'source' | 'target'; readonly all: boolean }
  | { readonly kind: 'refused'; readonly why: string }

export function decide(mine: Side, theirs: Side): Verdict {
  const verdict = compare(mine, theirs)
  if (verdict.kind === 'refused') return verdict
  if (verdict.kind === 'same')
    return mine.primary && theirs.primary && !(mine.dual && theirs.dual) ? refused('both nodes write to it') : verdict
  const [source, target] = verdict.kind === 'source' ? [mine, theirs] : [theirs, mine]
  // What was never written has shown nobody older data: all that was read came from the other side.
  if (target.primary && target.current !== '') return refused('the node that writes to it has the older data')
  return source.consistent ? verdict : refused('the newer data is not whole')
}

function compare(mine: Side, theirs: Side): Verdict {
  if (mine.current === '' || theirs.current === '') {
    if (mine.current === theirs.current) return { kind: 'same' }
    return { kind: mine.current === '' ? 'target' : 'source', all: true }
  }
  if (mine.current === theirs.current) return equals(mine, theirs)
  // The power of a machine takes what neither side had flushed when they were parted, too, and nobody noted that.
  const all = mine.crashed || theirs.crashed
  if (theirs.base === mine.current) return { kind: 'target', all }
  if (mine.base === theirs.current) return { kind: 'source', all }
  if (theirs.history.includes(mine.current)) return { kind: 'target', all: true }
  if (mine.history.includes(theirs.current)) return { kind: 'source', all: true }
  const related = [mine.base, ...mine.history].some(
    (one) => one !== '' && [theirs.base, ...theirs.history].includes(one),
  )
  return refused(
    related ? 'split brain: both nodes have written to it without each other' : 'the data of both is unrelated',
  )
}

/** The same generation: only what was under way when one died can differ, and an overwriting that was interrupted. */
function equals(mine: Side, theirs: Side): Verdict {
  if (mine.consistent !== theirs.consistent) return { kind: mine.consistent ? 'source' : 'target', all: true }
  if (!mine.crashed && !theirs.crashed) return { kind: 'same' }
  if (mine.primary && theirs.primary) return refused('both nodes write to it')
  if (mine.primary !== theirs.primary) return { kind: mine.primary ? 'source' : 'target', all: true }
  if (mine.crashed !== theirs.crashed) return { kind: mine.crashed ? 'source' : 'target', all: true }
  return { kind: mine.address < theirs.address ? 'source' : 'target', all: true }
}

const refused = (why: string): Verdict => ({ kind: 'refused', why })
