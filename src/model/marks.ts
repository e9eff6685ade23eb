// Our notes about a job, kept in the reason trail of its first opcode. So they are written in the same step as the job and copied with it, and the
// format stays Ganeti's. Jobs inherit the trail of the job that submitted them.

export const MARK = {
  user: 'gantry:user',
  token: 'gantry:token',
  /** `<digest of user and key> <keyed digest of the body> <digest of user>` */
  key: 'gantry:key',
  /** JSON of a list of Preconditions. */
  match: 'gantry:match',
  /** JSON of a TokenScope: the opcode may touch nothing outside it. */
  scope: 'gantry:scope',
  /** JSON of Rights: the jobs that the opcode submits may do nothing else. */
  rights: 'gantry:rights',
} as const

/** The rights of the user who submitted an opcode: patterns of permissions, of the user and of the token. */
export interface Rights {
  readonly user: readonly string[]
  readonly token: readonly string[] | null
}

export type Mark = readonly [source: string, text: string, time_ns: number]

const ALL: ReadonlySet<unknown> = new Set(Object.values(MARK))

/** Marks that only the master's own checks need. */
const INTERNAL: ReadonlySet<unknown> = new Set([MARK.key, MARK.match, MARK.scope, MARK.rights])

/**
 * An opcode as Ganeti's clients know it, and as users may send it: without marks, also in trails of opcodes inside opcodes; itself where
 * there are none.
 */
export const withoutMarks = <T extends object>(op: T): T => without(ALL, op)

/** An opcode as our own doors show it: with who submitted it. */
export const withoutInternalMarks = <T extends object>(op: T): T => without(INTERNAL, op)

function without<T extends object>(sources: ReadonlySet<unknown>, op: T): T {
  const isMark = (entry: unknown): boolean => Array.isArray(entry) && sources.has(entry[0])
  const drop = (_name: string, value: unknown): unknown =>
    Array.isArray(value) ? value.filter((entry) => !isMark(entry)) : value
  const has = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false
    return (Array.isArray(value) && value.some(isMark)) || Object.values(value).some(has)
  }
  // Marks are taken out; all else keeps its type.
  return has(op) ? (JSON.parse(JSON.stringify(op), drop) as T) : op
}
