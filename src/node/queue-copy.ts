// The queue's copy on a master candidate. What the master sends in a hurry goes to a journal, and to the files when it says so.
import { FileJournal } from '../lib/file-journal'
import type { NodeContext } from './context'

export function queueCopy({
  disk,
  paths,
  hostname,
  ssconf,
}: Pick<NodeContext, 'disk' | 'paths' | 'hostname' | 'ssconf'>): FileJournal {
  return new FileJournal({
    ...{ disk, file: paths.queueJournal },
    // On the master it is luxid's.
    isOurs: () => ssconf.value('master_node') !== hostname,
  })
}
