// The note of an unfinished upgrade, in Ganeti's file and format: the old version, the new one, and the process. It
// exists until the cluster works again with one of the two, so the next run can continue.

export interface Intent {
  readonly from: string
  readonly to: string
  /** Whether the queue was drained before, so that it stays so. Ganeti does not remember this. */
  readonly drained: boolean
}

const DRAINED = 'drained'

export function readNote(text: string | undefined): Intent | undefined {
  const [from, to, , drained] = text?.trim().split(',') ?? []
  return from && to ? { from, to, drained: drained === DRAINED } : undefined
}

export const noteText = ({ from, to, drained }: Intent, pid: number): string =>
  `${[from, to, String(pid), ...(drained ? [DRAINED] : [])].join(',')}\n`

/** A text for errors that an unfinished upgrade causes. */
export const unfinishedUpgrade = ({ from, to }: Intent): string =>
  `the upgrade from ${from} to ${to} has not ended: where it was cut off, 'gnt-cluster upgrade --resume' on the master goes on with it`
