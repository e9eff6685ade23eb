// The state of an instance for display. The status of a reservation only says that it is stopped, so it has its own states.
export interface Shown {
  readonly status?: string | null | undefined
  readonly forthcoming?: boolean | null | undefined
  readonly disks_active?: boolean | null | undefined
}

/** The status of an instance. A reservation, and an instance whose creation was interrupted, have their own values. */
export function stateOf({ status, forthcoming, disks_active: active }: Shown): string | undefined {
  if (forthcoming !== true) return status ?? undefined
  return active === true ? 'half_made' : 'reserved'
}
