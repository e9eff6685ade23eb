// The queue's copy on a master candidate. What the master sends in a hurry goes to a journal, and to the files when it says so.
import * as path from 'node:path'
import { FileJournal } from '../lib/file-journal'
import { objectIn } from '../lib/json-text'
import type { NodeContext } from './context'

export function queueCopy({
  disk,
  paths,
  hostname,
  ssconf,
}: Pick<NodeContext, 'disk' | 'paths' | 'hostname' | 'ssconf'>): FileJournal {
  const written = async (file: string) => (await disk.read(file))?.toString('utf8')
  return new FileJournal({
    ...{ disk, file: paths.queueJournal },
    // On the master it is luxid's.
    isOurs: () => ssconf.value('master_node') !== hostname,
    // What a luxid sent before it was killed may come after the full copy of the next one.
    isNews: async (file, content) => !isJob(file) || hasEnded(content) || !hasEnded(await written(file)),
  })
}

const isJob = (file: string): boolean => path.basename(file).startsWith('job-')

/** Whether this is the file of a job that has ended. */
export const hasEnded = (text: string | undefined): boolean => (objectIn(text)?.['end_timestamp'] ?? null) !== null
