// The file that keeps the history across restarts. Unreadable parts are lost, and nothing else.
import type { Disk } from '../../lib/disk'
import type { Log } from '../../lib/log'
import { dictOf } from '../../lib/shapes/containers'
import { objectOf } from '../../lib/shapes/objects'
import type { Shape } from '../../lib/shapes/shape'
import { errorText } from '../../lib/system-failure'
import type { InstanceHistory, NodeHistory } from '../../model/history'
import { HISTORY_BYTES_MAX } from '../../model/limits/history'
import { instanceHistory, nodeHistory } from '../../rpc/mond/history'

export interface SavedHistory {
  readonly node: NodeHistory
  readonly instances: Readonly<Record<string, InstanceHistory>>
}

const saved: Shape<SavedHistory> = objectOf(
  { node: nodeHistory, instances: dictOf(instanceHistory) },
  { others: 'refused' },
)

/** Undefined if there is no file. */
export async function readHistory(disk: Pick<Disk, 'read'>, file: string, log: Log): Promise<SavedHistory | undefined> {
  try {
    const text = await disk.read(file, HISTORY_BYTES_MAX)
    return text === undefined ? undefined : saved.parse(JSON.parse(text.toString('utf8')))
  } catch (error) {
    log.warn({ file, failure: errorText(error) }, 'the last hours that were saved cannot be read')
    return undefined
  }
}

/** Not durable: after a crash of the machine nobody needs it. */
export const writeHistory = (disk: Pick<Disk, 'write'>, file: string, history: SavedHistory): Promise<void> =>
  disk.write(file, JSON.stringify(history), { durable: false })
