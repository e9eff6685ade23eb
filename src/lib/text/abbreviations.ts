// Options that are written with the first letters of their names only, as Ganeti's programs accept them.

export interface Abbreviations {
  /** The names of all options, with their dashes. */
  readonly all: readonly string[]
  /** Those that Ganeti's program lacks: they do not make its abbreviations ambiguous. */
  readonly own: readonly string[]
  /** What to throw where several fit. */
  refusal(text: string): Error
}

/** `--disk-t` becomes `--disk-template` if no other option begins like this. What fits none stays as it is. */
export function expandAbbreviations(words: readonly string[], { all, own, refusal }: Abbreviations): string[] {
  const end = words.indexOf('--')
  return words.map((word, at) => {
    if (!word.startsWith('--') || word === '--' || (end !== -1 && at > end)) return word
    const [name = word] = word.split('=', 1)
    if (all.includes(name)) return word
    const fitting = all.filter((long) => long.startsWith(name))
    const ganetis = fitting.filter((long) => !own.includes(long))
    const matches = ganetis.length > 0 ? ganetis : fitting
    if (matches.length > 1) throw refusal(`ambiguous option: ${name} (${matches.sort().join(', ')}?)`)
    return (matches[0] ?? name) + word.slice(name.length)
  })
}
