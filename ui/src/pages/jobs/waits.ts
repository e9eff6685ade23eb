// The holders of a lock, and who waits for it. Owners are JSON: a job's number, or another owner's name in quotes.
export type Holder = number | string

interface LockRow {
  readonly name?: string | null
  readonly owner?: readonly unknown[] | null
  /** `[mode, owners]` of each waiting request. */
  readonly pending?: readonly unknown[] | null
}

export function holdersOf(text: string): Holder[] {
  try {
    const holder: unknown = JSON.parse(text)
    return typeof holder === 'number' || typeof holder === 'string' ? [holder] : []
  } catch {
    return [text]
  }
}

const owners = (list: unknown): Holder[] =>
  Array.isArray(list) ? list.flatMap((one) => holdersOf(typeof one === 'string' ? one : JSON.stringify(one))) : []

export const ownersOf = ({ owner }: LockRow): Holder[] => owners(owner)

export interface Waiting {
  readonly mode: string
  readonly holders: readonly Holder[]
}

export const pendingOf = ({ pending }: LockRow): Waiting[] =>
  (pending ?? []).flatMap((entry) =>
    Array.isArray(entry) ? [{ mode: String(entry[0]), holders: owners(entry[1]) }] : [],
  )

/** The jobs that wait for a lock, in any mode. */
export const waitingFor = (lock: LockRow): Holder[] => pendingOf(lock).flatMap(({ holders }) => holders)
