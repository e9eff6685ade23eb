// Parses a NIC's VLANs.

export interface Vlans {
  readonly untagged: string | undefined
  readonly tagged: readonly string[]
}

/** Ganeti's forms: `.10` untagged; `.10:20:30` untagged and tagged; `:20:30` tagged only. */
export function parseVlans(vlan: string): Vlans {
  const [first = '', ...tagged] = vlan.split(':')
  const untagged = first.replace(/^\./, '')
  return { untagged: untagged === '' ? undefined : untagged, tagged }
}
