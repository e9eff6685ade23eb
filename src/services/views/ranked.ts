// The order and the pages of a list of /3. A page begins after the value and key of the last object before it. So it
// begins at the right place even if that object is gone.
import { VIEW_PAGE_MAX } from '../../model/limits/rapi-v3'
import { niceCompare } from '../../model/nice-sort'
import type { ViewRequest, ViewSort } from '../../rpc/luxi/gantry'

/** An object's key, and the value by which the list is sorted. */
export interface Ranked {
  readonly key: string | number
  readonly value: unknown
}

export const isKey = (value: unknown): value is Ranked['key'] => typeof value === 'string' || typeof value === 'number'

export function rankedPage(
  items: readonly Ranked[],
  { sort, after, limit }: Pick<ViewRequest, 'sort' | 'after' | 'limit'>,
): { page: Ranked['key'][]; next: string | null } {
  const compare = comparison(sort)
  const inOrder = items.toSorted(compare)
  const last = after === null ? undefined : readPlace(after, sort)
  const from = last === undefined ? 0 : inOrder.findIndex((item) => compare(item, last) > 0)
  const rest = from === -1 ? [] : inOrder.slice(from)
  const page = rest.slice(0, Math.min(Math.max(limit, 1), VIEW_PAGE_MAX))
  const end = page.at(-1)
  const next = end !== undefined && rest.length > page.length ? placeText(end, sort) : null
  return { page: page.map(({ key }) => key), next }
}

function comparison(sort: ViewSort | null): (a: Ranked, b: Ranked) => number {
  const byKey = (a: Ranked, b: Ranked): number => niceCompare(String(a.key), String(b.key))
  if (sort === null) return byKey
  const sign = sort.descending ? -1 : 1
  return (a, b) => compareValues(a.value, b.value, sign) || byKey(a, b)
}

/** Missing values come last in either direction. */
function compareValues(a: unknown, b: unknown, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (typeof a === 'number' && typeof b === 'number') return sign * (a - b)
  return sign * niceCompare(textOf(a), textOf(b))
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

const placeText = ({ key, value }: Ranked, sort: ViewSort | null): string =>
  sort === null ? String(key) : JSON.stringify([value, key])

/** Undefined for a text that is no position in such a list: the list then begins at its start. */
function readPlace(text: string, sort: ViewSort | null): Ranked | undefined {
  if (sort === null) return { key: text, value: null }
  try {
    const reported: unknown = JSON.parse(text)
    const [value = null, key] = Array.isArray(reported) ? (reported as unknown[]) : []
    return isKey(key) ? { key, value } : undefined
  } catch {
    return undefined
  }
}
