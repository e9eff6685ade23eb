// Translates a request into a command for the master.

/** Flags whose names differ from their parameters. Null means that the command has no such flag. */
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

class Each {
  constructor(readonly values: readonly unknown[]) {}
}

/** For a flag that is repeated for each value. */
export const each = (values: unknown): unknown => new Each(Array.isArray(values) ? values : [])

function flagWords(flag: string, value: unknown): string[] {
  if (value === undefined || value === null) return []
  if (value instanceof Each) return value.values.flatMap((one) => flagWords(flag, one))
  if (value === true) return [`--${flag}`]
  if (value === false) return [`--no-${flag}`]
  const parts = Object.entries(value)
  // A flag with parameters for several names is repeated for each name: `kvm:acpi=false`.
  if (!Array.isArray(value) && typeof value === 'object' && parts.some(([, part]) => isRecord(part)))
    return parts.map(([name, part]) => `--${flag}=${shellWord(`${name}:${flagValue(part)}`)}`)
  return [`--${flag}=${shellWord(flagValue(value))}`]
}

const isRecord = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Commas separate list items and parameters. A comma in a value is escaped with `\`. A removed parameter has a minus in front. */
export function flagValue(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => escaped(String(one))).join(',')
  if (!isRecord(value)) return String(value)
  return Object.entries(value)
    .map(([name, one]) => (one === null ? `-${name}` : `${name}=${escaped(String(one))}`))
    .join(',')
}

/** For flags with the values `yes` and `no`. `others` are flags without a value. */
export const yesNo = (body: Readonly<Record<string, unknown>>, others: readonly string[] = []) =>
  Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'boolean' && !others.includes(name) ? (value ? 'yes' : 'no') : value,
    ]),
  )

const escaped = (text: string): string => text.replaceAll(/[\\,]/g, '\\$&')

export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

type Change = readonly [action: string, device: number | string, params?: Readonly<Record<string, unknown>>]

/** Changes of disks or cards: `--disk 0:mode=ro`, `--net add:network=lan`, `--net 1:remove`. */
export function changeWords(flag: string, changes: unknown): string[] {
  if (!Array.isArray(changes)) return []
  return (changes as readonly Change[]).map(([action, device, params = {}]) => {
    const isNew = action === 'add' && device === -1
    const where = String(isNew ? 'add' : device)
    const what = [
      ...(isNew || action === 'modify' ? [] : [action]),
      ...(Object.keys(params).length === 0 ? [] : [flagValue(params)]),
    ]
    return `--${flag} ${shellWord(what.length === 0 ? where : `${where}:${what.join(',')}`)}`
  })
}
