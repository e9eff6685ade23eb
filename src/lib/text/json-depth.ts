/** Whether a JSON value is nested deeper than this. Looks no deeper, so that no text can exhaust the stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  const entries = value as Readonly<Record<string, unknown>>
  for (const key in entries) if (isDeeper(entries[key], levels - 1)) return true
  return false
}

/**
 * Whether a JSON text has more values than this: parsing millions of them takes seconds, and many times the memory of
 * the text.
 */
export function hasMoreValues(text: string, limit: number): boolean {
  let values = 0
  for (let at = 0; at < text.length && values <= limit; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA || code === BRACKET || code === BRACE) values++
  }
  return values > limit
}

const [QUOTE, COMMA, BRACKET, BRACE, BACKSLASH] = [0x22, 0x2c, 0x5b, 0x7b, 0x5c]

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}
