// Our notes about a job, in the reason trail of its first opcode. There they are written and copied together with the
// job, and the format stays Ganeti's. Jobs inherit the trail of the job that submitted them.

export const MARK = {
  user: 'gantry:user',
  token: 'gantry:token',
  /** `<digest of user and key> <keyed digest of the body> <digest of user>` */
  key: 'gantry:key',
  /** JSON of a list of Preconditions. */
  match: 'gantry:match',
  /** JSON of a TokenScope: the opcode may touch only objects inside it. */
  scope: 'gantry:scope',
  /** JSON of Rights: the jobs that the opcode submits may do only this. */
  rights: 'gantry:rights',
} as const

/** The rights of an opcode's submitter: patterns of permissions, of the user and of the token. */
export interface Rights {
  readonly user: readonly string[]
  readonly token: readonly string[] | null
}

export type Mark = readonly [source: string, text: string, time_ns: number]

const ALL: ReadonlySet<unknown> = new Set(Object.values(MARK))

/** Marks that only the master's own checks need. */
const INTERNAL: ReadonlySet<unknown> = new Set([MARK.key, MARK.match, MARK.scope, MARK.rights])

/** What no door shows, nor lets anybody compare. */
export const isInternalMark = (entry: readonly unknown[]): boolean => INTERNAL.has(entry[0])

/**
 * An opcode as Ganeti's clients know it and users may send it: without marks, also in trails of opcodes inside opcodes.
 * A trail alone as nodes get it. Returns the same object if it has no marks.
 */
export const withoutMarks = <T extends object>(op: T): T => without(ALL, op)

/** An opcode as our own doors show it: with its submitter. */
export const withoutInternalMarks = <T extends object>(op: T): T => without(INTERNAL, op)

function without<T extends object>(sources: ReadonlySet<unknown>, op: T): T {
  const isMark = (entry: unknown): boolean => Array.isArray(entry) && sources.has(entry[0])
  const drop = (_name: string, value: unknown): unknown =>
    Array.isArray(value) ? value.filter((entry) => !isMark(entry)) : value
  const has = (value: unknown): boolean => {
    if (typeof value !== 'object' || value === null) return false
    return (Array.isArray(value) && value.some(isMark)) || Object.values(value).some(has)
  }
  // Only marks are removed; the type stays.
  return has(op) ? (JSON.parse(JSON.stringify(op), drop) as T) : op
}
