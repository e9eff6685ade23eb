// A master candidate's copy of the queue. Urgent data goes to a journal, and to the files when the master says so.
import * as path from 'node:path'
import { FileJournal } from '../lib/file/journal'
import { quarantineCopy } from '../lib/file/quarantine'
import { objectIn } from '../lib/text/json-text'
import { SET_ASIDE_MAX } from '../model/limits/daemons'
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

type Keeping = Pick<NodeContext, 'disk' | 'clock' | 'paths' | 'log'>

/** Another job of this number, of another master: the copy of the queue that is coming destroys it. */
export async function keepOther(context: Keeping, file: string, content: string): Promise<void> {
  if (!isJob(file)) return
  const old = (await context.disk.read(file))?.toString('utf8')
  const [before, next] = [old === undefined ? undefined : receivedAt(old), receivedAt(content)]
  if (old !== undefined && before !== undefined && before !== next)
    await keepJob(context, file, old, 'another job of this number')
}

/** A job that only this node has. Those that can be read the master has taken over, unless it has refused them itself. */
export async function keepUnreadable(context: Keeping, file: string): Promise<void> {
  const old = (await context.disk.read(file))?.toString('utf8')
  if (old !== undefined && receivedAt(old) === undefined)
    await keepJob(context, file, old, 'a job that cannot be read, and that the master does not have,')
}

async function keepJob({ disk, clock, paths, log }: Keeping, file: string, old: string, what: string): Promise<void> {
  const place = path.join(paths.dataDir, path.basename(file))
  const kept = await quarantineCopy(place, 'rejected', old, { disk, clock, most: SET_ASIDE_MAX })
  log.error({ kept }, `${what} was in this node's copy of the queue; it is kept`)
}

/** When the job was received, which tells jobs of one number apart. Undefined if the text is no job. */
function receivedAt(text: string): string | undefined {
  const job = objectIn(text)
  return job && JSON.stringify(job['received_timestamp'] ?? null)
}
