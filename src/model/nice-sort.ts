// The natural order of names: digits compare as numbers, so node2 comes before node10.

export const niceSort = (names: Iterable<string>): string[] => niceSortBy(names, (name) => name)

export function niceSortBy<T>(items: Iterable<T>, name: (item: T) => string): T[] {
  return [...items]
    .map((item) => [sortKey(name(item)), item] as const)
    .sort(([a], [b]) => compareText(a, b))
    .map(([, item]) => item)
}

export const niceCompare = (a: string, b: string): number => compareText(sortKey(a), sortKey(b))

/**
 * Returns a text whose plain order is the wanted one: the length of each number stands before it, as a character below
 * all those of names.
 */
const sortKey = (name: string): string =>
  name.replace(/\d+/g, (digits) => {
    const number = digits.replace(/^0+(?=.)/, '')
    return String.fromCharCode(number.length) + number
  })

/** The byte order of uuids and other ASCII keys. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
