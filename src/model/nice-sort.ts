// The order in which people expect names: digits compare as numbers, so node2 comes before node10.

export const niceSort = (names: Iterable<string>): string[] => [...names].sort(niceCompare)

export function niceSortBy<T>(items: Iterable<T>, name: (item: T) => string): T[] {
  return [...items]
    .map((item) => [parts(name(item)), item] as const)
    .sort(([a], [b]) => compareParts(a, b))
    .map(([, item]) => item)
}

export const niceCompare = (a: string, b: string): number => compareParts(parts(a), parts(b))

/** Text and numbers in turns; the first is always text. */
const parts = (name: string): string[] => name.split(/(\d+)/)

function compareParts(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [left = '', right = ''] = [a[i], b[i]]
    const order = i % 2 === 1 ? Number(left) - Number(right) : compareText(left, right)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** The byte order of uuids and other ASCII keys. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
