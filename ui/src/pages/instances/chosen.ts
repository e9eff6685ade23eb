// The names of instances that are chosen for an action on all of them.
import { api, got } from '../../api/client'

/** Names in one filter. More names are looked for among all instances. */
const FILTERED_MAX = 50

/** The names of all matching instances, including those that are not loaded yet. */
export async function allNames(filter: string | undefined): Promise<string[]> {
  const names: string[] = []
  let after: string | undefined
  do {
    const query = { fields: 'name', limit: 1000, filter, after }
    const page = await got(api.GET('/3/instances', { params: { query } }))
    names.push(...page.items.flatMap(({ name }) => name ?? []))
    after = page.next ?? undefined
  } while (after !== undefined)
  return names
}

/** The chosen names that are not among the shown rows: of another filter, not loaded yet, or removed. */
export function notShown(chosen: ReadonlySet<string>, rows: readonly { readonly name: string }[]): string[] {
  const displayed = new Set(rows.map(({ name }) => name))
  return [...chosen].filter((name) => !displayed.has(name))
}

/** The choice without the names that were looked for and not found. */
export function withoutGone(
  chosen: ReadonlySet<string>,
  sought: readonly string[],
  found: readonly string[],
): ReadonlySet<string> {
  const gone = new Set(sought.filter((name) => !found.includes(name)))
  return gone.size === 0 ? chosen : new Set([...chosen].filter((name) => !gone.has(name)))
}

/** The chosen names without those of instances that were removed or renamed since. */
export async function stillThere(
  chosen: readonly string[],
  all: (filter: string | undefined) => Promise<readonly string[]> = allNames,
): Promise<string[]> {
  // A filter of nothing but names is refused if one of them is gone.
  const filter = ['&', ['!=', 'name', ''], ['|', ...chosen.map((name) => ['==', 'name', name])]]
  const found = new Set(await all(chosen.length > FILTERED_MAX ? undefined : JSON.stringify(filter)))
  return chosen.filter((name) => found.has(name))
}
