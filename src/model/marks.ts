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

/** Opcodes as Ganeti's clients know them: without marks, also in trails of opcodes inside opcodes. */
export function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((entry) => !isMark(entry)).map(withoutMarks)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, withoutMarks(entry)]))
}

const isMark = (entry: unknown): boolean => Array.isArray(entry) && entry.length === 3 && SOURCES.has(entry[0])
