// Tags with a meaning for the allocation: mutual exclusion of instances, restrictions of moves between nodes, locations
// of nodes.
const PREFIX = {
  exclusion: 'htools:iextags:',
  desired: 'htools:desiredlocation:',
  migration: 'htools:migration:',
  location: 'htools:nlocation:',
}
const ALLOW = 'htools:allowmigration:'

/** The prefixes that the cluster's tags declare for this kind. */
export const prefixesOf = (clusterTags: readonly string[], kind: keyof typeof PREFIX): string[] =>
  clusterTags
    .filter((tag) => tag.startsWith(PREFIX[kind]) && tag !== PREFIX[kind])
    .map((tag) => tag.slice(PREFIX[kind].length))

export const withPrefix = (tags: readonly string[], prefixes: readonly string[]): string[] =>
  tags.filter((tag) => prefixes.some((prefix) => tag.startsWith(prefix)))

export const locationTags = (clusterTags: readonly string[], tags: readonly string[]): Set<string> =>
  new Set(withPrefix(tags, ownPrefixes(clusterTags, 'location')))

/** The restrictions of a node's instances, and those of other nodes that it accepts. */
export function migrationTags(
  clusterTags: readonly string[],
  tags: readonly string[],
): { own: Set<string>; receives: Set<string> } {
  const own = new Set(withPrefix(tags, ownPrefixes(clusterTags, 'migration')))
  const allowed = clusterTags.flatMap((tag) => {
    const pair = tag.startsWith(ALLOW) ? tag.slice(ALLOW.length).split('::') : []
    return pair.length === 2 ? [pair] : []
  })
  const receives = [...own].flatMap((tag) => [tag, ...allowed.flatMap(([from = '', to]) => (to === tag ? [from] : []))])
  return { own, receives: new Set(receives) }
}

const ownPrefixes = (clusterTags: readonly string[], kind: keyof typeof PREFIX): string[] =>
  prefixesOf(clusterTags, kind).map((prefix) => `${prefix}:`)
