// The same as a request on the command line of the master.

/** A flag by another name than that of the parameter; null for what the command has no flag for. */
type Flags = Readonly<Record<string, string | null>>

/** `gnt instance migrate --force --target-node=node2 vm1` */
export function gntText(
  command: string,
  body: Readonly<Record<string, unknown>>,
  args: readonly string[],
  flags: Flags = {},
): string {
  const words = Object.entries(body).flatMap(([name, value]) => {
    const flag = flags[name] === undefined ? name.replaceAll('_', '-') : flags[name]
    return flag === null ? [] : flagWords(flag, value)
  })
  return ['gnt', command, ...words, ...args.map(shellWord)].join(' ')
}

function flagWords(flag: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (value === true) return [`--${flag}`]
  if (value === false) return [`--no-${flag}`]
  return [`--${flag}=${shellWord(flagValue(value))}`]
}

/** Lists and parameters are written with commas, which `\` takes their meaning from. */
function flagValue(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => escaped(String(one))).join(',')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([name, one]) => `${name}=${escaped(String(one))}`)
    .join(',')
}

const escaped = (text: string): string => text.replaceAll(/[\\,]/g, '\\$&')

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
