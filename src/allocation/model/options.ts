// Options of a placement request: rules that may be broken or ignored, and usable nodes.

export interface AllocOptions {
  readonly ignoreSoftErrors: boolean
  /** Every node may die, and the others have room for its instances. */
  readonly capacity: boolean
  /** Node groups to which this does not apply. */
  readonly capacityIgnores: readonly number[]
  /** Offline nodes may already violate it. */
  readonly acceptExisting: boolean
  /** All nodes may already violate it: a move need not repair what it does not make worse. */
  readonly acceptFailing: boolean
  readonly ignorePolicy: boolean
  /** Names; undefined for all. */
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
