// The choices of whoever asks for a place: what may be broken, ignored or used.

export interface AllocOptions {
  readonly ignoreSoftErrors: boolean
  /** The death of any node must leave room for its instances. */
  readonly capacity: boolean
  /** Node groups that this need not hold for. */
  readonly capacityIgnores: readonly number[]
  /** Offline nodes may be in breach of it already. */
  readonly acceptExisting: boolean
  /** So may all nodes that are: what is moved need not mend what it makes no worse. */
  readonly acceptFailing: boolean
  readonly ignorePolicy: boolean
  /** By name; undefined: all. */
  readonly restrictTo: readonly string[] | undefined
}

export const ALLOC_DEFAULTS: AllocOptions = {
  ignoreSoftErrors: false,
  capacity: true,
  capacityIgnores: [],
  acceptExisting: false,
  acceptFailing: false,
  ignorePolicy: false,
  restrictTo: undefined,
}
