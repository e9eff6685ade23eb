// Suggests the known word that the user probably meant.

/** Suggests the known words with the fewest changes, at most a third of the letters: " Did you mean list?" */
export function suggestion(word: string, known: readonly string[]): string {
  const far = known.map((one) => ({ one, distance: distance(word, one) }))
  const least = Math.min(...far.map(({ distance }) => distance))
  if (least > Math.ceil(word.length / 3)) return ''
  const near = far.filter(({ distance }) => distance === least).map(({ one }) => one)
  return ` Did you mean ${near.join(' or ')}?`
}

/** Letters to insert, delete, replace, or swap with their neighbour. */
function distance(from: string, to: string): number {
  let [before, row]: [number[], number[]] = [[], [...to, ''].map((_, at) => at)]
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + Number(from[i - 1] !== to[j - 1])
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const least = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1)
      next.push(swapped ? Math.min(least, (before[j - 2] ?? 0) + 1) : least)
    }
    ;[before, row] = [row, next]
  }
  return row[to.length] ?? 0
}
