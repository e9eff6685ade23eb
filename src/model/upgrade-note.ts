// The note of an upgrade that is under way, in Ganeti's file and form: the version before, the one to go over to, and the process. It is
// there until the cluster works again with one of the two, so whoever finds it goes on.

export interface Intent {
  readonly from: string
  readonly to: string
  /** The queue was drained before, so it stays so. Ganeti does not remember that. */
  readonly drained: boolean
}

const DRAINED = 'drained'

export function readNote(text: string | undefined): Intent | undefined {
  const [from, to, , drained] = text?.trim().split(',') ?? []
  return from && to ? { from, to, drained: drained === DRAINED } : undefined
}

export const noteText = ({ from, to, drained }: Intent, pid: number): string =>
  `${[from, to, String(pid), ...(drained ? [DRAINED] : [])].join(',')}\n`

/** For whoever meets what it has left. */
export const unfinishedUpgrade = ({ from, to }: Intent): string =>
  `the upgrade from ${from} to ${to} has not ended: where it was cut off, 'gnt-cluster upgrade --resume' on the master goes on with it`
