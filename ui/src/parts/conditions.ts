// Conditions of the query language, for filters of lists.

/** Matches names that contain these letters. Letters with a meaning in regular expressions are escaped. */
export const nameLike = (letters: string, field = 'name'): unknown[] => [
  '=~',
  field,
  `(?i)${letters.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}`,
]

/** Makes the `filter` of a request. All conditions must match. */
export function allOf(conditions: readonly unknown[][]): string | undefined {
  if (conditions.length === 0) return undefined
  return JSON.stringify(conditions.length === 1 ? conditions[0] : ['&', ...conditions])
}
