/** A text as Haskell's `show` prints it. */
export function haskellText(text: string): string {
  const displayed = [...text].map((character) => NAMED[character] ?? numbered(character))
  // A separator keeps an escape apart from a following character that would be read as part of it.
  const parts = displayed.map((part, at) => {
    const before = displayed[at - 1] ?? ''
    const glues = (/^\\\d+$/.test(before) && /^\d/.test(part)) || (before === '\\SO' && part === 'H')
    return glues ? `\\&${part}` : part
  })
  return `"${parts.join('')}"`
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ '"': '\\"', '\\': '\\\\', '\x7f': '\\DEL' },
  ...{ '\x07': '\\a', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r' },
}

const CONTROLS =
  'NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US'.split(
    ' ',
  )

function numbered(character: string): string {
  const code = character.codePointAt(0) ?? 0
  const control = CONTROLS[code]
  if (control !== undefined) return `\\${control}`
  return code > 0x7e ? `\\${code}` : character
}
