// Python's ConfigParser format: sections of `name = value`, in which Ganeti describes an export.

export type IniSections = Readonly<Record<string, Readonly<Record<string, string>>>>

/** Values may have several lines; the following ones are indented. */
export function formatIni(sections: IniSections): string {
  return Object.entries(sections)
    .map(([name, values]) => {
      const lines = Object.entries(values).map(([key, value]) => `${key.toLowerCase()} = ${escaped(value)}\n`)
      return `[${name}]\n${lines.join('')}\n`
    })
    .join('')
}

/** Throws if a line is neither a section, nor a value, nor a comment. */
export function parseIni(text: string): IniSections {
  const sections = Object.create(null) as Record<string, Record<string, string>>
  let section: Record<string, string> | undefined
  let last: string | undefined
  for (const [number, line] of text.split('\n').entries()) {
    if (/^\s*([#;]|$)/.test(line)) continue
    const header = /^\[([^\]]+)\]/.exec(line)
    if (header?.[1] !== undefined) {
      section = sections[header[1]] ??= Object.create(null) as Record<string, string>
      last = undefined
      continue
    }
    if (/^\s/.test(line) && section !== undefined && last !== undefined) {
      section[last] = `${section[last] ?? ''}\n${unescaped(line.trim())}`
      continue
    }
    const value = /^([^=:]+?)\s*[=:]\s*(.*)$/.exec(line)
    if (section === undefined || value?.[1] === undefined) throw new Error(`line ${number + 1} is not understood`)
    last = value[1].toLowerCase()
    section[last] = unescaped((value[2] ?? '').trim())
  }
  return sections
}

const escaped = (value: string): string => value.replaceAll('%', '%%').replaceAll('\n', '\n\t')
const unescaped = (value: string): string => value.replaceAll('%%', '%')
