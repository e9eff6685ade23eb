// Compares recordings of a real cluster with our answers. Every value must be equal, except live measurements and values that change with
// time: of these only the kind is compared. uuids, times and job numbers inside texts are blanked.
import listed from '../golden/differences.json'

const otherwise = new Set<string>(listed.map(({ recording }) => recording))

/** Returns differences that are not listed, and listed ones that do not occur. */
export function verdict(name: string, found: readonly string[]): string[] {
  if (otherwise.has(name)) return found.length > 0 ? [] : [`${name}: does not differ; take it off the list`]
  return found.slice(0, 4).map((text) => `${name}: ${text}`)
}

/** The text as JSON, or unchanged if it is not JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const VOLATILE: ReadonlySet<string> = new Set([
  ...['mfree', 'mtotal', 'mnode', 'dfree', 'dtotal', 'sptotal', 'spfree', 'cnos', 'cnodes', 'csockets', 'ctotal'],
  ...['bootid', 'oper_ram', 'oper_vcpus', 'oper_state', 'status', 'console', 'serial_no', 'mtime', 'ctime'],
  ...['received_ts', 'start_ts', 'end_ts', 'opstart', 'opexec', 'opend', 'id', 'reason', 'architecture', 'serial'],
  ...['software_version', 'vcs_version', 'config_version', 'protocol_version', 'instance_communication_network'],
  ...['disk.uuids', 'nic.uuids'],
])

/** One line for each difference: `path: our value, the recorded value`. */
export function differences(want: unknown, got: unknown, where = '$', name = ''): string[] {
  const unlike = `${where}: ${short(got)}, recorded was ${short(want)}`
  if (VOLATILE.has(name)) return want === null || got === null || kind(want) === kind(got) ? [] : [unlike]
  if (kind(want) !== kind(got)) return [unlike]
  if (Array.isArray(want) && Array.isArray(got)) {
    if (isMoment(want) && isMoment(got)) return []
    if (want.length !== got.length) return [`${where}: ${got.length} entries, recorded were ${want.length}`]
    return want.flatMap((entry, index) => differences(entry, got[index], `${where}[${index}]`))
  }
  if (isRecord(want) && isRecord(got)) {
    if (isTable(want) && isTable(got)) return inTable(want, got, where)
    const keys = new Set([...Object.keys(want), ...Object.keys(got)])
    return [...keys].flatMap((key) => {
      if (!(key in got)) return [`${where}.${key}: missing`]
      if (!(key in want)) return [`${where}.${key}: not in the recording`]
      return differences(want[key], got[key], `${where}.${key}`, key)
    })
  }
  if (isNanoseconds(want) && isNanoseconds(got)) return []
  const same = typeof want === 'string' ? blank(want) === blank(String(got)) : want === got
  return same ? [] : [unlike]
}

/** Whether two values have the same shape. The progress of a job is ignored, because it depends on the moment. */
export function sameShape(want: unknown, got: unknown): boolean {
  if (want === null || got === null) return true
  if (kind(want) !== kind(got)) return false
  if (Array.isArray(want) && Array.isArray(got)) return want.every((entry, i) => sameShape(entry, got[i] ?? null))
  if (isRecord(want) && isRecord(got)) return Object.keys(want).every((key) => sameShape(want[key], got[key] ?? null))
  return true
}

interface Table {
  readonly fields: readonly { readonly name: string }[]
  readonly data: readonly (readonly (readonly [number, unknown])[])[]
}

/** The answer to a query. Its columns are compared by the names of their fields. */
function inTable(want: Table, got: Table, where: string): string[] {
  const fields = differences(want.fields, got.fields, `${where}.fields`)
  if (want.data.length !== got.data.length)
    return [...fields, `${where}.data: ${got.data.length} rows, recorded were ${want.data.length}`]
  const cells = want.data.flatMap((row, r) =>
    row.flatMap(([status, value], c) => {
      const field = want.fields[c]?.name ?? ''
      const [ourStatus, ours] = got.data[r]?.[c] ?? [-1, null]
      const found = differences(value, ours, `${where}.data[${r}].${field}`, field)
      return VOLATILE.has(field) || status === ourStatus ? found : [...found, `${where}.data[${r}].${field}: status`]
    }),
  )
  return [...fields, ...cells]
}

/** `[seconds, microseconds]` */
const isMoment = (value: readonly unknown[]): boolean =>
  value.length === 2 && value.every(Number.isInteger) && Number(value[0]) > 1e9

const isNanoseconds = (value: unknown): boolean => typeof value === 'number' && value > 1e18

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isTable = (value: object): value is Table =>
  'fields' in value && 'data' in value && Array.isArray(value.fields) && Array.isArray(value.data)

const kind = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

const blank = (text: string): string =>
  text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/\b(job|Job|jobs) ?=?\d+/g, '$1 <id>')
    .replace(/\bpid \d+/g, 'pid <id>')
    .replace(/\b1[0-9]{9}(\.\d+)?\b/g, '<time>')

const short = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 90)
