// The state of an instance as people see it: of one that does not exist yet, its status says only that it is stopped.
export interface Shown {
  readonly status?: string | null | undefined
  readonly forthcoming?: boolean | null | undefined
  readonly disks_active?: boolean | null | undefined
}

/** A status, or whether it is only reserved, or was not made to its end. */
export function stateOf({ status, forthcoming, disks_active: active }: Shown): string | undefined {
  if (forthcoming !== true) return status ?? undefined
  return active === true ? 'half_made' : 'reserved'
}
