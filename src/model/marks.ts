// What we note about a job in the reason trail of its first opcode: it is written in the same step as the job, copied with it, and
// is Ganeti's own format. Jobs inherit the trail of the job that submitted them.

export const MARK = {
  user: 'gantry:user',
  token: 'gantry:token',
  /** `<digest of user and key> <digest of the body>` */
  key: 'gantry:key',
  /** JSON of a list of Preconditions. */
  match: 'gantry:match',
  /** JSON of a TokenScope: the opcode may touch nothing outside it. */
  scope: 'gantry:scope',
} as const

export type Mark = readonly [source: string, text: string, time_ns: number]

const SOURCES: ReadonlySet<unknown> = new Set(Object.values(MARK))

/** An opcode as Ganeti's clients know it: without marks, also in trails of opcodes inside opcodes; itself where there are none. */
export const withoutMarks = <T extends object>(op: T): T =>
  hasMarks(op) ? (JSON.parse(JSON.stringify(op), dropMarks) as T) : op

const dropMarks = (_name: string, value: unknown): unknown =>
  Array.isArray(value) ? value.filter((entry) => !isMark(entry)) : value

function hasMarks(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (Array.isArray(value) && value.some(isMark)) || Object.values(value).some(hasMarks)
}

const isMark = (entry: unknown): boolean => Array.isArray(entry) && entry.length === 3 && SOURCES.has(entry[0])
