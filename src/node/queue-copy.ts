// A master candidate's copy of the queue. Urgent data goes to a journal, and to the files when the master says so.
import * as path from 'node:path'
import { FileJournal } from '../lib/file/journal'
import { objectIn } from '../lib/text/json-text'
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
    // On the master luxid owns it.
    isOurs: () => ssconf.value('master_node') !== hostname,
    // Data that a killed luxid had sent may arrive after the next one's full copy.
    isNews: async (file, content) => !isJob(file) || hasEnded(content) || !hasEnded(await written(file)),
  })
}

const isJob = (file: string): boolean => path.basename(file).startsWith('job-')

/** Whether this is the file of an ended job. */
export const hasEnded = (text: string | undefined): boolean => (objectIn(text)?.['end_timestamp'] ?? null) !== null
