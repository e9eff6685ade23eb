// Values as Python prints them, as in Ganeti's scripts, exports, messages and commands.

/** As Python's str(). */
export const pythonText = (value: unknown): string => (typeof value === 'string' ? value : pythonRepr(value))

/** As Python's repr(): texts in quotes, lists and dictionaries spelled out. */
export function pythonRepr(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(', ')}]`
  if (typeof value !== 'object') return String(value)
  const entries = Object.entries(value).map(([key, entry]) => `${quoted(key)}: ${pythonRepr(entry)}`)
  return `{${entries.join(', ')}}`
}

function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark
}

/** Python's int() of a text, or undefined where it would raise. */
export function pythonInt(text: string): number | undefined {
  return /^\s*[+-]?\d+(_\d+)*\s*$/.test(text) ? Number(text.replaceAll('_', '')) : undefined
}
