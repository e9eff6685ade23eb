/** Whether a JSON value is nested deeper than so many levels. Looks no deeper than that, so that no text can exhaust the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((entry) => isDeeper(entry, levels - 1))
}
