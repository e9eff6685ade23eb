// Pages of lists of /3.
import { VIEW_PAGE_MAX } from '../../model/limits/rapi-v3'
import { niceCompare } from '../../model/nice-sort'
import type { ViewRequest } from '../../rpc/luxi/gantry'

/** Returns one page of objects, in the order of their keys, and its last key if there are more. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { after, limit }: Pick<ViewRequest, 'after' | 'limit'>,
): { page: T[]; next: string | null } {
  const from = after === null ? 0 : items.findIndex((item) => niceCompare(keyOf(item), after) > 0)
  const rest = from === -1 ? [] : items.slice(from)
  const page = rest.slice(0, Math.min(Math.max(limit, 1), VIEW_PAGE_MAX))
  const last = page.at(-1)
  return { page, next: last !== undefined && rest.length > page.length ? keyOf(last) : null }
}
