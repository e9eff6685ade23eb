// The last hours of an instance, as the master puts them together from the nodes where it was.
import type { InstanceHistory } from '../../model/history'

export interface InstanceHistories extends InstanceHistory {
  /** The node that measured, for each of the times. */
  readonly nodes: string[]
  /** Nodes where it was before that did not tell, and why. */
  readonly missing: { node: string; why: string }[]
}
