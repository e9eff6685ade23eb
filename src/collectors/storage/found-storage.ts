// The findings about a storage.
import type { Status } from '../report'

export interface FoundStorage {
  readonly size_bytes: number | null
  readonly free_bytes: number | null
  readonly status: Status
  /** Facts of this type of storage only. */
  readonly details: Readonly<Record<string, unknown>>
}

/** Nothing to measure; the status says why. */
export const unmeasured = (status: Status, details: FoundStorage['details'] = {}): FoundStorage => ({
  ...{ size_bytes: null, free_bytes: null },
  ...{ status, details },
})

/** Full, or fine. */
export const fullness = (free_bytes: number): Status =>
  free_bytes > 0 ? { code: 0, message: '' } : { code: 4, message: 'there is no free space' }
