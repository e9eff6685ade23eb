// An instance's last hours, put together by the master from all nodes where it was.
import type { InstanceHistory } from '../../model/history'

export interface InstanceHistories extends InstanceHistory {
  /** The measuring node for each of the times. */
  readonly nodes: string[]
  /** Former nodes that did not answer, and why. */
  readonly missing: { node: string; why: string }[]
}
