// Asks programs of LVM about the node.
import { LVM_ONLY_ROOT } from '../../model/constants/disks'
import { CollectorFailure, type NodeSources, NotInstalled } from '../report'

/** Returns nothing on a node without LVM, and on one of an ordinary user, whom LVM does not answer. */
export async function askLvm(sources: NodeSources, command: readonly string[]): Promise<string> {
  try {
    return await sources.run(command)
  } catch (error) {
    if (error instanceof NotInstalled) return ''
    if (error instanceof CollectorFailure && LVM_ONLY_ROOT.test(error.message)) return ''
    throw error
  }
}
