// Conditions of the query language, as lists are filtered by them.

/** A name that has these letters, in the query language; what they mean in it is taken from them. */
export const nameLike = (letters: string, field = 'name'): unknown[] => [
  '=~',
  field,
  `(?i)${letters.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`,
]

/** All conditions together, as the `filter` of a request. */
export function allOf(conditions: readonly unknown[][]): string | undefined {
  if (conditions.length === 0) return undefined
  return JSON.stringify(conditions.length === 1 ? conditions[0] : ['&', ...conditions])
}
