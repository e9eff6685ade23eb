// The note of an unfinished upgrade, in Ganeti's file and format: the old version, the new one, and the process. It
// exists until the cluster works again with one of the two, so the next run can continue.

export interface Intent {
  readonly from: string
  readonly to: string
  /** Whether the queue was drained before, so that it stays so. Ganeti does not remember this. */
  readonly drained: boolean
  /** The names of those that are to change, if not all are. */
  readonly nodes?: readonly string[]
}

const DRAINED = 'drained'

export function readNote(text: string | undefined): Intent | undefined {
  const [from, to, , drained, names] = text?.trim().split(',') ?? []
  if (!from || !to) return undefined
  return { from, to, drained: drained === DRAINED, ...(names && { nodes: names.split(' ') }) }
}

export const noteText = ({ from, to, drained, nodes }: Intent, pid: number): string =>
  `${[from, to, String(pid), drained ? DRAINED : '', nodes?.join(' ') ?? ''].join(',').replace(/,+$/, '')}\n`

/** A text for errors that an unfinished upgrade causes. */
export const unfinishedUpgrade = ({ from, to, nodes }: Intent): string =>
  `the upgrade${nodes === undefined ? '' : ` of ${nodes.join(', ')}`} from ${from} to ${to} has not ended: where it was cut off, 'gnt-cluster upgrade --resume' on the master goes on with it`
