// JSON as Ganeti's luxid prints it in its complaints: filled lines, broken when they would become too wide.

/** Characters of a line without its indentation. */
const LINE_CHARS_MAX = 67

export function layout(value: unknown, indent = 0): string {
  const flat = oneLine(value)
  if (flat.length <= LINE_CHARS_MAX) return flat
  if (Array.isArray(value))
    return fill(
      '[',
      value.map((item: unknown) => layout(item, indent + 1)),
      ']',
      indent,
    )
  if (typeof value !== 'object' || value === null) return flat
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${layout(item, indent + 1)}`)
  return fill('{', pairs, '}', indent)
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`)
  return `{${pairs.join(', ')}}`
}

function fill(open: string, items: readonly string[], close: string, indent: number): string {
  let text = open
  let column = 1
  for (const [index, item] of items.entries()) {
    const piece = item + (index === items.length - 1 ? close : ',')
    if (index > 0 && column + 1 + piece.length > LINE_CHARS_MAX) {
      text += `\n${' '.repeat(indent + 1)}`
      column = 0
    } else if (index > 0) {
      text += ' '
      column++
    }
    text += piece
    const lastLine = piece.length - 1 - piece.lastIndexOf('\n')
    column = piece.includes('\n') ? lastLine : column + piece.length
  }
  return items.length === 0 ? open + close : text
}
